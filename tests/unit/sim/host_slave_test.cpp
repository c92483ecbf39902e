// The host's memory on the board's AXI bus.

#include <cstring>
#include <sys/mman.h>

#include <gtest/gtest.h>

#include "sim/rtl/host_slave.hpp"
#include "tests/unit/sim/undriven_board.hpp"

namespace datum::sim {
namespace {

constexpr std::uint64_t iova = 0x10000;
constexpr std::size_t bytes = 0x2000;

class HostSlaveTest : public ::testing::Test {
 protected:
  HostSlaveTest()
      : memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes) {
    auto range = HostRange::of_caller(memory_.span(), board::DmaAccess::read_write);
    iommu_.map(Iova{iova}, std::move(range).value(), board::DmaAccess::read_write);
    for (std::size_t at = 0; at < bytes; ++at) {
      memory_.data()[at] = static_cast<std::byte>(at / 64 + at);
    }
    use({});
  }

  void use(const HostSlave::Settings& settings) {
    slave_ = std::make_unique<HostSlave>(pins(), bus_, settings);
    pins().m_axi_host_bready_o = 1;
    pins().m_axi_host_rready_o = 1;
  }

  BoardPins& pins() { return board_.pins(); }

  /// One cycle; true if the question on the read or write address channel was taken.
  struct Cycle {
    bool aw = false;
    bool w = false;
    bool ar = false;
    bool r = false;
    bool b = false;
  };

  Cycle tick() {
    slave_->drive(now_);
    const Cycle cycle{pins().m_axi_host_awvalid_o != 0 && pins().m_axi_host_awready_i != 0,
                      pins().m_axi_host_wvalid_o != 0 && pins().m_axi_host_wready_i != 0,
                      pins().m_axi_host_arvalid_o != 0 && pins().m_axi_host_arready_i != 0,
                      pins().m_axi_host_rvalid_i != 0, pins().m_axi_host_bvalid_i != 0};
    slave_->sample();
    slave_->advance(++now_);
    return cycle;
  }

  void ask_read(unsigned id, std::uint64_t address, unsigned beats) {
    pins().m_axi_host_arid_o = static_cast<SData>(id);
    pins().m_axi_host_araddr_o = address;
    pins().m_axi_host_arlen_o = static_cast<CData>(beats - 1);
    pins().m_axi_host_arsize_o = 6;
    pins().m_axi_host_arvalid_o = 1;
    while (!tick().ar) {
    }
    pins().m_axi_host_arvalid_o = 0;
  }

  /// The next beat that is answered, with its data.
  struct Beat {
    unsigned id = 0;
    unsigned response = 0;
    bool last = false;
    std::array<std::byte, 64> data{};
  };

  Beat next_beat() {
    for (;;) {
      slave_->drive(now_);
      Beat beat{pins().m_axi_host_rid_i, pins().m_axi_host_rresp_i, pins().m_axi_host_rlast_i != 0, {}};
      std::memcpy(beat.data.data(), pins().m_axi_host_rdata_i.data(), 64);
      const bool valid = pins().m_axi_host_rvalid_i != 0;
      slave_->sample();
      slave_->advance(++now_);
      if (valid) {
        return beat;
      }
    }
  }

  void write(std::uint64_t address, unsigned beats, std::uint64_t strobes, unsigned value) {
    pins().m_axi_host_awid_o = 3;
    pins().m_axi_host_awaddr_o = address;
    pins().m_axi_host_awlen_o = static_cast<CData>(beats - 1);
    pins().m_axi_host_awsize_o = 6;
    pins().m_axi_host_awvalid_o = 1;
    pins().m_axi_host_wstrb_o = strobes;
    std::memset(pins().m_axi_host_wdata_o.data(), static_cast<int>(value), 64);
    pins().m_axi_host_wvalid_o = 1;
    for (unsigned beat = 0; beat < beats || pins().m_axi_host_awvalid_o != 0;) {
      pins().m_axi_host_wlast_o = beat + 1 == beats ? 1 : 0;
      const auto cycle = tick();
      beat += cycle.w ? 1 : 0;
      pins().m_axi_host_wvalid_o = beat < beats ? 1 : 0;
      pins().m_axi_host_awvalid_o = cycle.aw ? 0 : pins().m_axi_host_awvalid_o;
    }
  }

  unsigned answer() {
    for (;;) {
      slave_->drive(now_);
      const bool valid = pins().m_axi_host_bvalid_i != 0;
      const unsigned response = pins().m_axi_host_bresp_i;
      EXPECT_TRUE(!valid || pins().m_axi_host_bid_i == 3);
      slave_->sample();
      slave_->advance(++now_);
      if (valid) {
        return response;
      }
    }
  }

  UndrivenBoard board_;
  Mapping memory_;
  Iommu iommu_{{39, 0, 0}};
  Interrupts interrupts_{8};
  TransactionHash hash_;
  HostBus bus_{iommu_, interrupts_, hash_};
  std::unique_ptr<HostSlave> slave_;
  std::uint64_t now_ = 1;
};

TEST_F(HostSlaveTest, a_burst_of_reads_brings_its_beats_in_order) {
  ask_read(5, iova + 128, 3);
  for (unsigned index = 0; index < 3; ++index) {
    const auto beat = next_beat();
    EXPECT_EQ(beat.id, 5U);
    EXPECT_EQ(beat.response, 0U);
    EXPECT_EQ(beat.last, index == 2);
    EXPECT_EQ(std::memcmp(beat.data.data(), memory_.data() + 128 + index * 64, 64), 0) << index;
  }
}

TEST_F(HostSlaveTest, answers_come_after_the_latency) {
  use({50, 0, 0});
  ask_read(1, iova, 1);
  const auto asked = now_;
  static_cast<void>(next_beat());
  EXPECT_GE(now_ - asked, 50U);
  EXPECT_LE(now_ - asked, 52U);
}

TEST_F(HostSlaveTest, a_beat_that_is_not_taken_stays) {
  ask_read(1, iova, 1);
  pins().m_axi_host_rready_o = 0;
  for (int times = 0; times < 5; ++times) {
    tick();
  }
  EXPECT_EQ(pins().m_axi_host_rvalid_i, 1);
  pins().m_axi_host_rready_o = 1;
  EXPECT_EQ(next_beat().data[1], memory_.data()[1]);
  tick();
  EXPECT_EQ(pins().m_axi_host_rvalid_i, 0);
}

TEST_F(HostSlaveTest, beats_beyond_the_mapping_are_answered_with_an_error) {
  ask_read(1, iova + bytes - 64, 2);
  EXPECT_EQ(next_beat().response, 0U);
  EXPECT_EQ(next_beat().response, 2U);
  EXPECT_EQ(iommu_.take_faults().size(), 1U);
}

TEST_F(HostSlaveTest, strobes_select_what_is_written) {
  const auto before = memory_.data()[67];
  write(iova + 64, 2, 0x00000000000000f6ULL, 0x99);
  EXPECT_EQ(answer(), 0U);
  for (const std::size_t lane : {64U, 128U}) {
    EXPECT_EQ(memory_.data()[lane + 1], std::byte{0x99});
    EXPECT_EQ(memory_.data()[lane + 2], std::byte{0x99});
    EXPECT_EQ(memory_.data()[lane + 4], std::byte{0x99});
    EXPECT_EQ(memory_.data()[lane + 7], std::byte{0x99});
  }
  EXPECT_EQ(memory_.data()[67], before);
}

TEST_F(HostSlaveTest, a_write_without_strobes_writes_nothing_and_succeeds) {
  const auto before = memory_.data()[0];
  write(iova, 1, 0, 0x99);
  EXPECT_EQ(answer(), 0U);
  EXPECT_EQ(memory_.data()[0], before);
}

TEST_F(HostSlaveTest, a_write_beyond_the_mapping_is_answered_with_an_error) {
  write(iova + bytes, 1, ~0ULL, 1);
  EXPECT_EQ(answer(), 2U);
}

TEST_F(HostSlaveTest, four_bytes_to_the_message_window_are_an_interrupt) {
  std::memset(pins().m_axi_host_wdata_o.data(), 0, 64);
  write(message_window_first, 1, 0xf, 0);
  EXPECT_EQ(answer(), 0U);
  EXPECT_TRUE(interrupts_.consume(0));
}

TEST_F(HostSlaveTest, back_pressure_holds_things_up_at_random_but_never_for_good) {
  use({0, 100, 7});
  for (unsigned count = 0; count < 20; ++count) {
    ask_read(1, iova, 2);
    static_cast<void>(next_beat());
    EXPECT_TRUE(next_beat().last);
    write(iova, 1, ~0ULL, count);
    EXPECT_EQ(answer(), 0U);
  }
  EXPECT_GT(now_, 500U);
}

}  // namespace
}  // namespace datum::sim
