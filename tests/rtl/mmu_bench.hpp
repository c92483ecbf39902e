// The MMU alone: page tables in a memory that answers after a latency, and questions of all ports.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>
#include <verilated.h>

#include <gtest/gtest.h>

#include "Vdatum_mmu_checked.h"
#include "rtl_model/verilated_runtime/verilated_coverage.hpp"
#include "tests/rtl/page_tables.hpp"
#include "tests/rtl/sparse_memory.hpp"

namespace datum::rtl_test {

using hw::FaultReason;

inline constexpr unsigned ports = 9;
inline constexpr std::uint64_t memory_bytes = 16ULL << 20U;
enum class Target : unsigned { dram = 0, onchip = 1, host = 2 };

struct Answer {
  Target target{};
  std::uint64_t frame = 0;
  unsigned size = 0;
  FaultReason reason{};
  std::uint64_t cycles = 0;  // from the question's cycle to the answer's
};

/// Page tables in a memory that answers reads after a latency; a DMA that grants drains when the test lets
/// it.
class MmuBench {
 public:
  MmuBench() {
    context_.randReset(2);
    context_.randSeed(7);
    top_ = std::make_unique<Vdatum_mmu_checked>(&context_);
    reset();
    set_root(0, tables.root());
  }

  /// Forgets all roots, too.
  void reset() {
    top_->rst_ni = 0;
    top_->req_valid_i = 0;
    top_->invalidate_start_i = 0;
    top_->root_write_i = 0;
    for (unsigned i = 0; i < 4; ++i) {
      cycle();
    }
    top_->rst_ni = 1;
    cycle();
  }

  ~MmuBench() {
    top_->final();
    rtl_model::write_coverage_of_bench(context_);
  }

  MmuBench(const MmuBench&) = delete;
  MmuBench& operator=(const MmuBench&) = delete;

  SparseMemory memory;
  PageTables tables{memory, 0x10'0000, 1ULL << 20U};
  std::uint64_t latency_cycles = 16;
  bool fail_reads = false;
  std::optional<std::uint64_t> failing_line;  // address of one line that cannot be read
  bool slow_addresses = false;                // an address is taken only in each third cycle
  bool grant_drain = true;
  std::uint64_t table_reads = 0;

  void set_root(unsigned space, std::uint64_t address, bool valid = true) {
    const auto root = hw::SpaceRootRegister{}.set_valid(valid).set_address_bytes(address).raw;
    top_->root_space_i = static_cast<CData>(space);
    for (unsigned half = 0; half < 2; ++half) {
      top_->root_write_i = 1;
      top_->root_high_i = static_cast<CData>(half);
      top_->root_data_i = static_cast<IData>(root >> (32U * half));
      cycle();
    }
    top_->root_write_i = 0;
  }

  void ask(unsigned port, std::uint64_t va, bool write, unsigned space = 0) {
    questions_[port].push_back({va, write, space});
  }

  /// Runs until every question is answered; answers by port in order.
  const std::vector<Answer>& answers(unsigned port) {
    for (unsigned i = 0; i < 100'000 && busy(); ++i) {
      cycle();
    }
    EXPECT_FALSE(busy());
    return answers_[port];
  }

  Answer translate(std::uint64_t va, bool write = false, unsigned port = 0, unsigned space = 0) {
    ask(port, va, write, space);
    return answers(port).back();
  }

  void start_invalidation(bool everything, bool whole_space, unsigned space, std::uint64_t first,
                          std::uint64_t last) {
    const auto first_page = first >> 12U;
    const auto last_page = last >> 12U;
    auto& what = top_->invalidate_what_i;
    what[0] = static_cast<IData>(last_page);
    what[1] = static_cast<IData>((last_page >> 32U) | (first_page << 4U));
    what[2] = static_cast<IData>((first_page >> 28U) | (space << 8U) | (whole_space ? 1U << 16U : 0U) |
                                 (everything ? 1U << 17U : 0U));
    top_->invalidate_start_i = 1;
    cycle();
    top_->invalidate_start_i = 0;
    what[0] = what[1] = what[2] = 0;  // it is taken over when it starts
  }

  void invalidate(std::uint64_t first, std::uint64_t bytes, unsigned space = 0) {
    start_invalidation(false, bytes == 0, space, first, first + bytes - 1);
    for (unsigned i = 0; i < 1000 && invalidating(); ++i) {
      cycle();
    }
    EXPECT_FALSE(invalidating());
  }

  [[nodiscard]] bool invalidating() const { return top_->invalidate_busy_o != 0; }

  [[nodiscard]] bool drain_requested() const { return top_->drain_req_o != 0; }

  std::uint64_t invalidations = 0;
  std::uint64_t hits = 0;
  std::uint64_t walks = 0;

  [[nodiscard]] bool idle() const { return top_->idle_o != 0; }

  /// What software reads of a root.
  std::uint32_t root_word(unsigned space, bool high) {
    top_->root_space_i = static_cast<CData>(space);
    top_->root_high_i = high ? 1 : 0;
    cycle();
    return top_->root_data_o;
  }

  void set_low_half_of_root(unsigned space, std::uint32_t value) {
    top_->root_space_i = static_cast<CData>(space);
    top_->root_high_i = 0;
    top_->root_data_i = value;
    top_->root_write_i = 1;
    cycle();
    top_->root_write_i = 0;
  }

  void cycle() {
    drive();
    top_->clk_i = 0;
    top_->eval();
    if (top_->rst_ni) {
      sample();
    }
    top_->clk_i = 1;
    top_->eval();
    ++now_;
  }

 private:
  struct Read {
    std::uint64_t due;
    std::uint64_t address;
    unsigned beats;
  };

  struct Question {
    std::uint64_t va;
    bool write;
    unsigned space;
  };

  [[nodiscard]] bool busy() const {
    for (unsigned p = 0; p < ports; ++p) {
      if (!questions_[p].empty() || !open_[p].empty()) {
        return true;
      }
    }
    return false;
  }

  void drive() {
    top_->req_valid_i = 0;
    for (unsigned p = 0; p < ports; ++p) {
      if (!questions_[p].empty()) {
        const auto& question = questions_[p].front();
        top_->req_valid_i = static_cast<SData>(top_->req_valid_i | (1U << p));
        top_->req_i[p] = (std::uint64_t{question.space} << 37U) | ((question.va >> 12U) << 1U) |
                         (question.write ? 1U : 0U);
      }
    }
    top_->arready_i = !slow_addresses || now_ % 3 == 0;
    top_->rvalid_i = read_.has_value() && read_->due <= now_;
    drive_data();
    top_->drain_ack_i = grant_drain && top_->drain_req_o;
  }

  /// axi_r_t: id, data, response, last; the data begins at bit 3. What is not valid, or failed, looks like
  /// entries of other frames.
  void drive_data() {
    const bool failing =
        !top_->rvalid_i || fail_reads || read_->address == failing_line || read_->address >= memory_bytes;
    auto line = memory.read(read_ ? read_->address : 0, 64);
    for (unsigned entry = 0; failing && entry < 8; ++entry) {
      line[8 * entry + 2] ^= std::byte{0x10};
    }
    std::array<std::uint32_t, 17> bits{};
    for (unsigned i = 0; i < 512; ++i) {
      if (((std::to_integer<unsigned>(line[i / 8]) >> (i % 8)) & 1U) != 0) {
        bits[(i + 3) / 32] |= 1U << ((i + 3) % 32);
      }
    }
    if (!top_->rvalid_i || read_->beats == 1) {
      bits[0] |= 1U;
    }
    if (top_->rvalid_i && failing) {
      bits[0] |= 3U << 1U;
    }
    std::copy(bits.begin(), bits.end(), top_->r_i.data());
  }

  void sample() {
    const bool working = invalidating() || std::any_of(open_.begin(), open_.end(), [](const auto& questions) {
                           return !questions.empty();
                         });
    rest_cycles_ = working ? 0 : rest_cycles_ + 1;
    ASSERT_FALSE(ended_ && invalidating()) << "an invalidation was told to be done, and went on";
    ended_ = top_->invalidate_done_o != 0;
    ASSERT_FALSE(working && idle()) << "idle, though questions or an invalidation are under way";
    ASSERT_TRUE(rest_cycles_ < 4 || idle()) << "not idle, though nothing is under way";
    for (unsigned p = 0; p < ports; ++p) {
      if (((top_->rsp_valid_o >> p) & 1U) != 0) {
        ASSERT_FALSE(open_[p].empty()) << "an answer without a question";
        const std::uint64_t raw = top_->rsp_o[p];
        answers_[p].push_back({static_cast<Target>(raw >> 50U), (raw >> 10U) & 0xff'ffff'ffffU,
                               static_cast<unsigned>((raw >> 8U) & 3U), static_cast<FaultReason>(raw & 0xffU),
                               now_ - open_[p].front()});
        open_[p].pop_front();
      }
      if (((top_->req_valid_i & top_->req_ready_o) >> p & 1U) != 0) {
        questions_[p].pop_front();
        open_[p].push_back(now_);
      }
    }
    if (top_->rvalid_i && top_->rready_o) {
      read_->address += 64;
      if (--read_->beats == 0) {
        read_.reset();
      }
    }
    if (top_->arvalid_o && top_->arready_i) {
      read_ = {now_ + latency_cycles, (top_->ar_o >> 4U) & ((1ULL << 52U) - 1),
               static_cast<unsigned>(top_->ar_o & 0xfU) + 1};
      ++table_reads;
    }
    invalidations += top_->invalidate_done_o;
    hits += top_->hits_o;
    walks += top_->walk_o;
  }

  VerilatedContext context_;
  std::unique_ptr<Vdatum_mmu_checked> top_;
  std::array<std::deque<Question>, ports> questions_;
  std::array<std::deque<std::uint64_t>, ports> open_;
  std::array<std::vector<Answer>, ports> answers_;
  std::optional<Read> read_;
  std::uint64_t now_ = 0;
  std::uint64_t rest_cycles_ = 0;
  bool ended_ = false;
};

inline constexpr std::uint64_t va = 0x7f12'3456'7000;

}  // namespace datum::rtl_test
