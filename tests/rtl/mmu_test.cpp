// The MMU alone: translation, refusals, what its TLBs may keep, invalidation, and how long an answer takes.
#include <deque>
#include <memory>
#include <optional>
#include <vector>
#include <verilated.h>

#include <gtest/gtest.h>

#include "Vdatum_mmu_checked.h"
#include "tests/rtl/page_tables.hpp"
#include "tests/rtl/sparse_memory.hpp"

namespace datum::rtl_test {
namespace {

using hw::FaultReason;

constexpr unsigned ports = 9;
constexpr std::uint64_t memory_bytes = 16ULL << 20U;
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
    top_->rst_ni = 0;
    top_->req_valid_i = 0;
    top_->invalidate_start_i = 0;
    top_->root_write_i = 0;
    for (unsigned i = 0; i < 4; ++i) {
      cycle();
    }
    top_->rst_ni = 1;
    cycle();
    set_root(0, tables.root());
  }

  ~MmuBench() { top_->final(); }

  MmuBench(const MmuBench&) = delete;
  MmuBench& operator=(const MmuBench&) = delete;

  SparseMemory memory;
  PageTables tables{memory, 0x10'0000, 1ULL << 20U};
  std::uint64_t latency_cycles = 16;
  bool fail_reads = false;
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
    top_->arready_i = 1;
    top_->rvalid_i = read_.has_value() && read_->due <= now_;
    if (top_->rvalid_i) {
      const auto line = memory.read(read_->address, 64);
      // axi_r_t: id, data, response, last; the data begins at bit 3.
      std::array<std::uint32_t, 17> bits{};
      for (unsigned i = 0; i < 512; ++i) {
        if (((std::to_integer<unsigned>(line[i / 8]) >> (i % 8)) & 1U) != 0) {
          bits[(i + 3) / 32] |= 1U << ((i + 3) % 32);
        }
      }
      bits[0] |=
          (read_->beats == 1 ? 1U : 0U) | (fail_reads || read_->address >= memory_bytes ? 3U << 1U : 0U);
      std::copy(bits.begin(), bits.end(), top_->r_i.data());
    }
    top_->drain_ack_i = grant_drain && top_->drain_req_o;
  }

  void sample() {
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
    if (top_->arvalid_o) {
      read_ = {now_ + latency_cycles, (top_->ar_o >> 4U) & ((1ULL << 52U) - 1),
               static_cast<unsigned>(top_->ar_o & 0xfU) + 1};
      ++table_reads;
    }
    invalidations += top_->invalidate_done_o;
  }

  VerilatedContext context_;
  std::unique_ptr<Vdatum_mmu_checked> top_;
  std::array<std::deque<Question>, ports> questions_;
  std::array<std::deque<std::uint64_t>, ports> open_;
  std::array<std::vector<Answer>, ports> answers_;
  std::optional<Read> read_;
  std::uint64_t now_ = 0;
};

constexpr std::uint64_t va = 0x7f12'3456'7000;

TEST(Mmu, given_small_pages_when_asked_then_each_gets_its_frame_and_target) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x12'3000, false, true));
  bench.tables.map(va + 0x1000, PageTables::leaf(0x4000, false, false, 1));
  bench.tables.map(va + 0x2000, PageTables::leaf(0x3'ffff'f000, true, false));
  const auto dram = bench.translate(va, true);
  EXPECT_EQ(dram.reason, FaultReason::none);
  EXPECT_EQ(dram.target, Target::dram);
  EXPECT_EQ(dram.frame, 0x123U);
  const auto onchip = bench.translate(va + 0x1000);
  EXPECT_EQ(onchip.target, Target::onchip);
  EXPECT_EQ(onchip.frame, 4U);
  const auto host = bench.translate(va + 0x2000);
  EXPECT_EQ(host.target, Target::host);
  EXPECT_EQ(host.frame, 0x3'ffff'fU);
}

TEST(Mmu, given_large_and_huge_pages_when_asked_inside_then_the_frame_is_that_of_the_small_page) {
  MmuBench bench;
  constexpr std::uint64_t large = 0x4000'0000'0000;
  constexpr std::uint64_t huge = 0x5000'0000'0000;
  bench.tables.map(large, PageTables::leaf(0x60'0000, false, true), 1);
  bench.tables.map(huge, PageTables::leaf(0x8000'0000, true, true), 2);
  const auto in_large = bench.translate(large + 0x12'3000, true);
  EXPECT_EQ(in_large.size, 1U);
  EXPECT_EQ(in_large.frame, 0x723U);
  const auto in_huge = bench.translate(huge + 0x3456'7000, true);
  EXPECT_EQ(in_huge.size, 2U);
  EXPECT_EQ(in_huge.frame, 0xb'4567U);
  EXPECT_EQ(bench.translate(huge + 0x3456'6000).frame, 0xb'4566U);
}

TEST(Mmu, given_broken_entries_when_asked_then_the_reason_says_what_is_wrong) {
  MmuBench bench;
  const auto good = PageTables::leaf(0x1000, false, true);
  EXPECT_EQ(bench.translate(va).reason, FaultReason::not_present);
  bench.tables.map(va, hw::Pte{good}.set_writable(false));
  EXPECT_EQ(bench.translate(va, true).reason, FaultReason::write_refused);
  EXPECT_EQ(bench.translate(va, false).reason, FaultReason::none);

  struct Broken {
    std::uint64_t va;
    hw::Pte entry;
    unsigned level;
  };

  const Broken broken[] = {{0x1000'0000'0000, hw::Pte{good.raw | (1ULL << 9U)}, 0},
                           {0x1000'0000'1000, hw::Pte{good.raw | (1ULL << 63U)}, 0},
                           {0x1000'0000'2000, hw::Pte{good}.set_leaf(false), 0},
                           {0x1000'0000'3000, hw::Pte{good}.set_ordinal(2), 0},
                           {0x2000'0000'0000, PageTables::leaf(0x1000, false, true), 1},
                           {0x3000'0000'0000, PageTables::leaf(0x20'0000, false, true), 2},
                           {0x4000'0000'0000, PageTables::leaf(0, false, true), 3}};
  for (const auto& one : broken) {
    bench.tables.map(one.va, one.entry, one.level);
    EXPECT_EQ(bench.translate(one.va).reason, FaultReason::malformed_entry) << std::hex << one.va;
  }
  EXPECT_EQ(bench.translate(va, false, 0, 5).reason, FaultReason::no_root);
}

TEST(Mmu, given_tables_that_cannot_be_read_when_asked_then_the_reason_is_table_read_and_nothing_is_kept) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  bench.fail_reads = true;
  EXPECT_EQ(bench.translate(va).reason, FaultReason::table_read);
  bench.fail_reads = false;
  EXPECT_EQ(bench.translate(va).reason, FaultReason::none);
}

TEST(Mmu, given_a_refusal_when_the_entry_becomes_valid_then_it_is_seen_without_invalidation) {
  MmuBench bench;
  bench.tables.map(va + 0x1000, PageTables::leaf(0x8000, false, true));
  EXPECT_EQ(bench.translate(va + 0x1000).reason, FaultReason::none);  // its line of the table is known now
  EXPECT_EQ(bench.translate(va).reason, FaultReason::not_present);
  bench.tables.map(va, PageTables::leaf(0x5000, false, false));
  EXPECT_EQ(bench.translate(va).frame, 5U);
  EXPECT_EQ(bench.translate(va, true).reason, FaultReason::write_refused);
  bench.tables.map(va, PageTables::leaf(0x5000, false, true));
  EXPECT_EQ(bench.translate(va, true).reason, FaultReason::none);
}

TEST(Mmu, given_an_invalidated_range_when_asked_again_then_new_entries_are_seen_and_others_stay) {
  MmuBench bench;
  for (unsigned page = 0; page < 4; ++page) {
    bench.tables.map(va + page * 0x1000U, PageTables::leaf(0x1000U * (page + 1), false, true));
    EXPECT_EQ(bench.translate(va + page * 0x1000U, true, page).frame, page + 1);
  }
  for (unsigned page = 0; page < 4; ++page) {
    bench.tables.map(va + page * 0x1000U, PageTables::leaf(0x1000U * (page + 0x101), false, true));
  }
  bench.invalidate(va + 0x1000, 0x2000);
  EXPECT_EQ(bench.invalidations, 1U);
  EXPECT_EQ(bench.translate(va + 0x1000, false, 1).frame, 0x102U);
  EXPECT_EQ(bench.translate(va + 0x2000, false, 2).frame, 0x103U);
  const auto reads = bench.table_reads;
  EXPECT_EQ(bench.translate(va, false, 5).frame, 1U) << "outside the range: still from the TLB";
  EXPECT_EQ(bench.translate(va + 0x3000, false, 6).frame, 4U);
  EXPECT_EQ(bench.table_reads, reads);
  bench.invalidate(0, 0);
  EXPECT_EQ(bench.translate(va, false, 0).frame, 0x101U);
}

TEST(Mmu, given_two_spaces_when_one_is_invalidated_then_the_other_one_is_untouched) {
  MmuBench bench;
  PageTables other{bench.memory, 0x80'0000, 1ULL << 20U};
  bench.set_root(200, other.root());
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  other.map(va, PageTables::leaf(0x2000, false, true));
  EXPECT_EQ(bench.translate(va, false, 0, 0).frame, 1U);
  EXPECT_EQ(bench.translate(va, false, 0, 200).frame, 2U);
  bench.tables.map(va, PageTables::leaf(0x3000, false, true));
  other.map(va, PageTables::leaf(0x4000, false, true));
  bench.invalidate(0, 0, 200);
  EXPECT_EQ(bench.translate(va, false, 1, 0).frame, 1U);
  EXPECT_EQ(bench.translate(va, false, 1, 200).frame, 4U);
}

TEST(Mmu, given_a_large_page_when_a_part_of_it_is_invalidated_then_all_of_it_is_read_again) {
  MmuBench bench;
  constexpr std::uint64_t large = 0x4000'0000'0000;
  bench.tables.map(large, PageTables::leaf(0x60'0000, false, true), 1);
  EXPECT_EQ(bench.translate(large).frame, 0x600U);
  bench.tables.map(large, PageTables::leaf(0xa0'0000, false, true), 1);
  bench.invalidate(large + 0x5000, 0x1000);
  EXPECT_EQ(bench.translate(large + 0x1f'f000).frame, 0xbffU);
}

TEST(Mmu,
     given_a_drain_that_is_not_granted_when_invalidating_then_it_waits_and_questions_are_still_answered) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  bench.grant_drain = false;
  bench.start_invalidation(true, false, 0, 0, 0);
  EXPECT_TRUE(bench.drain_requested());
  EXPECT_EQ(bench.translate(va).frame, 1U);
  for (unsigned i = 0; i < 100; ++i) {
    bench.cycle();
  }
  EXPECT_TRUE(bench.invalidating());
  EXPECT_EQ(bench.invalidations, 0U);
  bench.tables.map(va, PageTables::leaf(0x2000, false, true));
  bench.grant_drain = true;
  for (unsigned i = 0; i < 100; ++i) {
    bench.cycle();
  }
  EXPECT_FALSE(bench.invalidating());
  EXPECT_EQ(bench.translate(va).frame, 2U);
}

TEST(Mmu, given_the_page_of_the_last_answer_when_asked_again_then_answers_come_one_a_cycle) {
  MmuBench bench;
  bench.tables.map(va, PageTables::leaf(0x1000, false, true));
  bench.translate(va, true, 3);
  for (unsigned i = 0; i < 50; ++i) {
    bench.ask(3, va, true);
  }
  const auto& answers = bench.answers(3);
  ASSERT_EQ(answers.size(), 51U);
  for (unsigned i = 1; i < 51; ++i) {
    EXPECT_EQ(answers[i].cycles, 2U);
  }
}

TEST(Mmu, given_all_ports_when_they_hit_the_shared_tlb_then_no_answer_takes_longer_than_a_turn_of_the_ports) {
  MmuBench bench;
  for (unsigned page = 0; page < 2 * ports; ++page) {
    bench.tables.map(va + page * 0x1000U, PageTables::leaf(0x1000U * (page + 1), false, true));
    bench.translate(va + page * 0x1000U, true, 0);
  }
  for (unsigned p = 0; p < ports; ++p) {
    for (unsigned i = 0; i < 8; ++i) {
      bench.ask(p, va + (2 * p + i % 2) * 0x1000U, false);
    }
  }
  bench.answers(0);
  for (unsigned p = 1; p < ports; ++p) {
    for (const auto& answer : bench.answers(p)) {
      EXPECT_EQ(answer.reason, FaultReason::none);
      EXPECT_LE(answer.cycles, 4 + ports);
    }
  }
}

TEST(Mmu, given_a_stream_of_small_pages_when_walked_then_32_pages_cost_one_table_read) {
  MmuBench bench;
  constexpr unsigned pages = 256;
  for (unsigned page = 0; page < pages; ++page) {
    bench.tables.map(0x6000'0000'0000 + page * 0x1000U, PageTables::leaf(0x1000U * (page + 1), false, true));
  }
  for (unsigned page = 0; page < pages; ++page) {
    bench.ask(0, 0x6000'0000'0000 + page * 0x1000U, false);
  }
  const auto& answers = bench.answers(0);
  std::uint64_t cycles = 0;
  for (unsigned page = 0; page < pages; ++page) {
    EXPECT_EQ(answers[page].frame, page + 1);
    cycles += answers[page].cycles;
  }
  EXPECT_EQ(bench.table_reads, pages / 32 + 3);
  // A page of 4 KiB keeps the data bus busy for 64 cycles.
  EXPECT_LT(cycles / pages, 16U);
}

}  // namespace
}  // namespace datum::rtl_test
