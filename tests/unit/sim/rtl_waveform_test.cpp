// Waveforms of the Verilated board, chosen by its address and read back.

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include <datum/board/watchdog_mark.hpp>

#include "cosim/board_driver.hpp"
#include "rtl_model/verilated_runtime/verilated_failure.hpp"
#include "sim/backend.hpp"
#include "sim/rtl/rtl_engine.hpp"
#include "tests/unit/sim/fst_file.hpp"

namespace datum::sim {
namespace {

using test::FstFile;

class RtlWaveform : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "datum-waveform-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    file_ = folder_ + "/run.fst";
  }

  void TearDown() override {
    function_.reset();
    std::filesystem::remove_all(folder_);
  }

  void open(const std::string& options) {
    auto opened = open_simulated("rtl:step,memory=16M,wave=" + file_ + options);
    ASSERT_TRUE(opened) << opened.error().message;
    function_ = std::move(opened).value();
  }

  board::Bar& registers() { return **function_->bar(0); }

  void run_to(std::uint64_t cycle) {
    while (function_->cycle() < cycle) {
      static_cast<void>(registers().read32(hw::magic));
    }
  }

  void close() { function_.reset(); }

  [[nodiscard]] bool is_empty() const { return std::filesystem::file_size(file_) == 0; }

  std::string folder_;
  std::string file_;
  std::unique_ptr<SimFunction> function_;
};

TEST_F(RtlWaveform, given_a_file_alone_then_every_cycle_and_every_part_is_in_it) {
  open("");
  const std::uint64_t end = function_->cycle();
  close();
  const FstFile waveform(file_);
  EXPECT_EQ(waveform.first_cycle(), 0U);
  EXPECT_EQ(waveform.last_cycle(), end - 1);
  for (const auto* const part : {"u_regs", "u_dma", "u_mmu", "u_fabric"}) {
    EXPECT_TRUE(waveform.has_below(std::string("TOP.datum_board.") + part)) << part;
  }
}

TEST_F(RtlWaveform, given_a_window_by_time_then_only_those_cycles_are_in_it_while_the_board_goes_on) {
  open(",wave_from=40,wave_to=90,wave_scope=u_regs");
  run_to(200);
  const FstFile waveform(file_);
  EXPECT_EQ(waveform.first_cycle(), 40U);
  EXPECT_EQ(waveform.last_cycle(), 90U);
}

TEST_F(RtlWaveform, given_scopes_then_other_parts_are_not_in_it) {
  open(",wave_scope=datum_board.u_mmu+u_msix,wave_to=50");
  close();
  const FstFile waveform(file_);
  EXPECT_TRUE(waveform.has_below("TOP.datum_board.u_mmu"));
  EXPECT_TRUE(waveform.has_below("TOP.datum_board.u_msix"));
  EXPECT_FALSE(waveform.has_below("TOP.datum_board.u_dma"));
  EXPECT_FALSE(waveform.has("TOP.datum_board.timer_i"));
}

TEST_F(RtlWaveform, given_a_scope_that_the_design_lacks_then_it_is_told_with_some_that_there_are) {
  const auto opened = open_simulated("rtl:step,memory=16M,wave=" + file_ + ",wave_scope=u_engine");
  ASSERT_FALSE(opened);
  for (const auto* const word : {"wave_scope", "'u_engine'", "TOP.datum_board.u_dma"}) {
    EXPECT_NE(opened.error().message.find(word), std::string::npos) << opened.error().message;
  }
}

TEST_F(RtlWaveform, given_a_written_register_then_the_write_and_what_follows_is_in_it) {
  open(",wave_on=write:SCRATCH=0x1234,wave_next=60");
  run_to(function_->cycle() + 50);
  registers().write64(hw::scratch, 0x4321);
  EXPECT_TRUE(is_empty());
  const std::uint64_t before = function_->cycle();
  registers().write64(hw::scratch, 0x1234);
  run_to(before + 100);
  const FstFile waveform(file_);
  EXPECT_EQ(waveform.first_cycle(), before);
  EXPECT_EQ(waveform.last_cycle(), before + 59);
  const auto scratch = waveform.changes_of("TOP.datum_board.u_regs.scratch_q");
  ASSERT_GE(scratch.size(), 2U);
  EXPECT_EQ(scratch.front().value, 0x4321U);
  EXPECT_EQ(scratch.back().value, 0x1234U);
}

TEST_F(RtlWaveform, given_a_descriptor_then_it_is_executed_in_it_and_a_signal_has_its_number) {
  open(",wave_on=descriptor:3");
  cosim::BoardDriver driver(*function_);
  {
    cosim::Ring ring(driver, 2, 4, {1});
    ASSERT_TRUE(ring.wait_for(ring.submit(cosim::plain_descriptor(hw::Opcode::nop))));
    ASSERT_TRUE(ring.wait_for(ring.submit(cosim::plain_descriptor(hw::Opcode::nop))));
    EXPECT_TRUE(is_empty());
    ASSERT_TRUE(ring.wait_for(ring.submit(cosim::plain_descriptor(hw::Opcode::nop))));
  }
  close();
  const FstFile waveform(file_);
  bool seen = false;
  for (unsigned channel = 0; channel < 4; ++channel) {
    const auto numbers = waveform.changes_of("TOP.datum_board.u_dma.g_channel[" + std::to_string(channel) +
                                             "].u_channel.oldest_sequence");
    seen = seen || std::ranges::any_of(numbers, [](const auto& change) { return change.value == 3; });
  }
  EXPECT_TRUE(seen);
}

TEST_F(RtlWaveform, given_the_last_cycles_when_a_ring_faults_then_they_and_the_fault_are_there) {
  open(",wave_last=500,wave_next=20");
  cosim::BoardDriver driver(*function_);
  run_to(function_->cycle() + 1200);
  cosim::Ring ring(driver, 0, 4, {1});
  ASSERT_TRUE(ring.wait_for(ring.submit(cosim::plain_descriptor(static_cast<hw::Opcode>(0xee)))));
  EXPECT_EQ(ring.state(), hw::RingState::faulted);
  const std::uint64_t fault = function_->cycle();
  run_to(fault + 1500);
  const FstFile newest(file_);
  const FstFile before(file_before(file_));
  EXPECT_EQ(before.last_cycle() + 1, newest.first_cycle());
  EXPECT_EQ(before.last_cycle() - before.first_cycle(), 499U);
  EXPECT_LT(newest.last_cycle(), fault + 100) << "it ended with the fault";
  EXPECT_GE(newest.last_cycle() - before.first_cycle(), 500U);
  const auto counted = newest.changes_of("TOP.datum_board.u_regs.fault_count");
  ASSERT_FALSE(counted.empty());
  EXPECT_EQ(counted.back().value, 1U);
}

TEST_F(RtlWaveform, given_the_last_cycles_when_the_driver_gives_the_board_up_then_those_before_it_are_there) {
  open(",wave_last=500,wave_next=20,wave_scope=u_regs");
  run_to(function_->cycle() + 1200);
  const std::uint64_t given_up = function_->cycle();
  registers().write64(hw::scratch, board::watchdog_mark);
  run_to(given_up + 1500);
  EXPECT_EQ(FstFile(file_).last_cycle(), given_up + 19) << "the write itself is in it";
  EXPECT_LE(FstFile(file_before(file_)).first_cycle(), given_up - 500);
  const auto scratch = FstFile(file_).changes_of("TOP.datum_board.u_regs.scratch_q");
  ASSERT_FALSE(scratch.empty());
  EXPECT_EQ(scratch.back().value, board::watchdog_mark);
}

TEST_F(RtlWaveform, given_several_windows_then_the_descriptors_of_a_run_are_each_in_its_own) {
  open(",wave_on=descriptor:1+descriptor:3,wave_next=300,wave_windows=2,wave_scope=u_dma");
  cosim::BoardDriver driver(*function_);
  std::vector<std::uint64_t> begun;
  {
    cosim::Ring ring(driver, 2, 4, {1});
    for (unsigned descriptor = 1; descriptor <= 3; ++descriptor) {
      run_to(function_->cycle() + 400);
      begun.push_back(function_->cycle());
      ASSERT_TRUE(ring.wait_for(ring.submit(cosim::plain_descriptor(hw::Opcode::nop))));
    }
    run_to(function_->cycle() + 400);
  }
  close();
  const FstFile first(file_);
  const FstFile second(file_of_window(file_, 2));
  EXPECT_EQ(first.last_cycle() - first.first_cycle(), 299U);
  EXPECT_EQ(second.last_cycle() - second.first_cycle(), 299U);
  EXPECT_GE(first.first_cycle(), begun[0]);
  EXPECT_LT(first.last_cycle(), begun[1]);
  EXPECT_GE(second.first_cycle(), begun[2]);
  EXPECT_FALSE(std::filesystem::exists(file_of_window(file_, 3)));
}

TEST_F(RtlWaveform, given_the_last_cycles_when_nothing_happens_then_those_before_the_end_are_there) {
  open(",wave_last=500,wave_scope=u_regs");
  run_to(3000);
  const std::uint64_t end = function_->cycle();
  close();
  EXPECT_EQ(FstFile(file_).last_cycle(), end - 1);
  EXPECT_LE(FstFile(file_before(file_)).first_cycle(), end - 500);
}

TEST_F(RtlWaveform, given_windows_of_an_earlier_run_when_a_board_may_write_such_then_they_are_gone) {
  const std::string old = file_of_window(file_, 7);
  open(",wave_scope=u_regs");
  close();
  std::filesystem::rename(file_, old);
  open(",wave_scope=u_regs");
  close();
  EXPECT_TRUE(std::filesystem::exists(old)) << "that one writes no other file, and this may be anybody's";
  open(",wave_scope=u_regs,wave_last=100");
  EXPECT_FALSE(std::filesystem::exists(old));
}

TEST_F(RtlWaveform, given_a_program_without_standard_streams_then_what_it_prints_does_not_go_into_the_file) {
  EXPECT_EXIT(
      {
        ::close(STDIN_FILENO);
        ::close(STDOUT_FILENO);
        open(",wave_scope=u_regs");
        const bool taken = ::fcntl(STDIN_FILENO, F_GETFD) != -1 || ::fcntl(STDOUT_FILENO, F_GETFD) != -1;
        std::_Exit(taken ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(RtlWaveform, given_a_size_then_the_file_does_not_grow_above_it) {
  open(",wave_size=1M");
  run_to(30'000);
  close();
  const FstFile waveform(file_);
  EXPECT_LE(std::filesystem::file_size(file_), 1U << 20U);
  EXPECT_EQ(waveform.first_cycle(), 0U);
  RecordProperty("last_cycle", static_cast<int>(waveform.last_cycle()));
}

/// An instrumented board with an assertion that fails after a number of evaluations.
class AssertingBoard final : public VerilatedBoard {
 public:
  AssertingBoard(const VerilatedSettings& settings, unsigned evaluations)
      : inner_(make_instrumented_board(settings)), left_(evaluations) {}

  void evaluate() override {
    if (left_-- == 0) {
      throw rtl_model::ModelFailure("assertion of the test");
    }
    inner_->evaluate();
  }

  void open_waveform(const std::string& file, const std::vector<std::string>& scopes) override {
    inner_->open_waveform(file, scopes);
  }

  void dump(std::uint64_t time_ps) override { inner_->dump(time_ps); }

  void flush_waveform() override { inner_->flush_waveform(); }

  void close_waveform() override { inner_->close_waveform(); }

  [[nodiscard]] BoardPins& pins() noexcept override { return inner_->pins(); }

 private:
  std::unique_ptr<VerilatedBoard> inner_;
  unsigned left_;
};

TEST_F(RtlWaveform,
       given_the_last_cycles_when_an_assertion_fails_then_the_file_ends_there_while_the_board_is_open) {
  BoardOptions options;
  options.scheme = Scheme::rtl;
  options.memory_bytes = options.aperture_bytes = options.window_bytes = 16ULL << 20U;
  options.step_locked = true;
  options.waveform.file = file_;
  options.waveform.last_cycles = 300;
  WaveformTrigger assertion;
  assertion.kind = WaveformTrigger::Kind::assertion;
  options.waveform.triggers = {assertion};
  DramArray dram = std::move(DramArray::create(16ULL << 20U)).value();
  Iommu iommu{{39, 0, 0}};
  Interrupts interrupts{66};
  TransactionHash hash;
  HostBus bus{iommu, interrupts, hash};
  const Timebase timebase{true};
  static constexpr unsigned evaluations = 6000;
  RtlEngine engine(EngineSurroundings{options, dram, bus, timebase, hash},
                   [](const VerilatedSettings& settings) -> std::unique_ptr<VerilatedBoard> {
                     return std::make_unique<AssertingBoard>(settings, evaluations);
                   });
  engine.power_on();
  while (engine.lost().empty()) {
    static_cast<void>(engine.read_register32(hw::magic));
  }
  EXPECT_NE(engine.lost().find("cycle 3000"), std::string::npos) << engine.lost();
  EXPECT_EQ(FstFile(file_).last_cycle(), 3000U) << "the cycle of the failure included";
  EXPECT_LE(FstFile(file_before(file_)).first_cycle(), 2700U);
  engine.power_on();
  EXPECT_EQ(engine.lost(), "");
  EXPECT_TRUE(std::filesystem::exists(file_of_life(file_, 2))) << "what led to the loss stays";
}

}  // namespace
}  // namespace datum::sim
