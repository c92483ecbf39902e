// Random programs on many rings, by seed, against a reference. A ring reads what nobody writes, or behind a
// fence what it wrote itself, and writes its own area; rings order themselves by values and waits.
#include "rtl_model/bench/dma_test.hpp"

namespace datum::rtl_bench {
namespace {

constexpr std::uint64_t shared_source = 0x10'0000;
constexpr std::uint64_t own_area = 0x100'0000;
constexpr std::uint64_t own_bytes = 0x1'0000;
constexpr std::uint64_t words = 0x5000'0000;

std::uint64_t own_base(unsigned ring) { return own_area + ring * std::uint64_t{0x10'0000}; }

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed), bench_(surroundings(seed)) {
    bench_.set_channels(1 + static_cast<unsigned>(random_() % DmaBench::channels));
    bench_.set_park_recheck_ns(random_() % 2 == 0 ? 0 : 20000);
    for (const Target target : {Target::dram, Target::host, Target::onchip}) {
      const Bytes bytes = random_bytes(own_bytes, seed + static_cast<std::uint64_t>(target));
      bench_.memory().write({target, shared_source}, bytes);
      reference_.write({target, shared_source}, bytes);
    }
    const unsigned count = 1 + static_cast<unsigned>(random_() % 12);
    for (unsigned i = 0; i < count; ++i) {
      rings_.push_back(std::make_unique<Ring>(bench_, (i * 5 + static_cast<unsigned>(seed)) % 64, 7));
    }
    // Each word may be waited for only by rings behind its writer: no program waits for itself.
    for (unsigned i = 0; i < count; ++i) {
      write_program(i);
    }
  }

  void run_and_check() {
    std::vector<std::unique_ptr<Ring>*> order;
    for (auto& ring : rings_) {
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(random_() % (order.size() + 1)), &ring);
    }
    for (auto* ring : order) {
      (*ring)->doorbell();
      bench_.run(random_() % 50);
    }
    if (random_() % 3 == 0) {
      bench_.run(random_() % 500);
      bench_.invalidate();
    }
    bench_.run_until([&] { return bench_.quiescent() && !bench_.parked(); }, 2000000);
    for (unsigned i = 0; i < rings_.size(); ++i) {
      ASSERT_EQ(rings_[i]->state(), hw::RingState::idle);
      ASSERT_EQ(rings_[i]->record().sequence(), rings_[i]->tail() - 1);
      ASSERT_EQ(rings_[i]->record().status(), hw::Status::ok);
      check_area(i);
    }
  }

 private:
  static Surroundings surroundings(std::uint64_t seed) {
    std::mt19937_64 random(seed * 77);
    Surroundings result;
    result.read_latency_cycles = 1 + static_cast<unsigned>(random() % 100);
    result.write_latency_cycles = 1 + static_cast<unsigned>(random() % 60);
    result.translate_cycles = 1 + static_cast<unsigned>(random() % 20);
    result.stall_percent = static_cast<unsigned>(random() % 60);
    result.seed = seed;
    return result;
  }

  static std::uint16_t any_space(std::uint64_t number) { return static_cast<std::uint16_t>(number % 3); }

  Address own(unsigned ring) { return {any_space(random_()), own_base(ring) + random_() % (own_bytes / 2)}; }

  std::uint64_t length() {
    switch (random_() % 4) {
    case 0:
      return random_() % 20;
    case 1:
      return random_() % 300;
    case 2:
      return random_() % 5000;
    default:
      return 64 * (random_() % 100);
    }
  }

  void put(unsigned ring, const hw::Descriptor& descriptor) {
    hw::Descriptor flagged = descriptor;
    flagged.set_flag_complete(random_() % 4 == 0).set_flag_interrupt(random_() % 8 == 0);
    rings_[ring]->put(flagged);
    do_descriptor(reference_, flagged);
  }

  void put_random(unsigned ring) {
    const Address source{any_space(random_()), shared_source + random_() % (own_bytes / 2)};
    switch (random_() % 8) {
    case 0:
    case 1:
    case 2:
      put(ring, copy(own(ring), source, length()));
      break;
    case 3:
      put(ring, copy(own(ring), own(ring), random_() % 2000).set_flag_fence(true));
      put(ring, barrier());
      break;
    case 4:
      put(ring, fill(own(ring), length(), static_cast<std::uint8_t>(random_() % 5), random_(), random_()));
      break;
    case 5: {
      Region region{.x_bytes = static_cast<std::uint32_t>(random_() % 200),
                    .rows = static_cast<std::uint32_t>(random_() % 9),
                    .planes = static_cast<std::uint32_t>(random_() % 3)};
      region.src_row_pitch = static_cast<std::uint32_t>(random_() % 1000);
      region.dst_row_pitch = 200 + static_cast<std::uint32_t>(random_() % 300);
      region.src_slice_pitch = static_cast<std::uint32_t>(random_() % 5000);
      region.dst_slice_pitch = 10 * region.dst_row_pitch;
      put(ring, copy_region(own(ring), source, region));
      break;
    }
    case 6: {
      Address value = own(ring);
      value.va &= ~std::uint64_t{7};
      put(ring, write_value(value, random_() % 2 == 0 ? 2 : 3, random_()));
      break;
    }
    default:
      put(ring, barrier());
    }
  }

  void write_program(unsigned ring) {
    for (unsigned i = 0; i < 20; ++i) {
      if (ring != 0 && random_() % 5 == 0) {
        const auto other = static_cast<unsigned>(random_() % ring);
        put(ring, wait_value({host_space, words + 8U * other}, hw::WaitCondition::greater_equal,
                             1 + random_() % 20));
      }
      put_random(ring);
      put(ring, write_value({host_space, words + 8U * ring}, 3, i + 1));
    }
    // A copy whose source another descriptor of the ring may write must see it done.
    hw::Descriptor last = barrier();
    rings_[ring]->put(last.set_flag_complete(true));
  }

  void check_area(unsigned ring) {
    for (const Target target : {Target::dram, Target::host, Target::onchip}) {
      Bytes wanted(own_bytes);
      reference_.read({target, own_base(ring)}, wanted);
      const Bytes found = bytes_at(bench_, {target, own_base(ring)}, own_bytes);
      const auto different = std::mismatch(wanted.begin(), wanted.end(), found.begin());
      ASSERT_TRUE(different.first == wanted.end())
          << "ring " << ring << " target " << static_cast<int>(target) << " offset "
          << (different.first - wanted.begin());
    }
  }

  std::mt19937_64 random_;
  DmaBench bench_;
  SparseMemory reference_;
  std::vector<std::unique_ptr<Ring>> rings_;
};

class RandomTest : public ::testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, ::testing::Range(0U, 12U));

TEST_P(RandomTest,
       given_random_programs_on_many_rings_when_all_have_finished_then_memory_is_as_the_reference_says) {
  for (unsigned i = 0; i < 5; ++i) {
    SCOPED_TRACE(GetParam() * 5 + i);
    Program program(GetParam() * 5 + i);
    program.run_and_check();
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST_P(
    RandomTest,
    given_random_stops_faults_and_drains_when_they_hit_running_rings_then_nothing_hangs_and_all_rings_work_again) {
  std::mt19937_64 random(GetParam() + 1000);
  DmaBench bench({.read_latency_cycles = 1 + static_cast<unsigned>(random() % 90),
                  .write_latency_cycles = 1 + static_cast<unsigned>(random() % 40),
                  .translate_cycles = 1 + static_cast<unsigned>(random() % 9),
                  .stall_percent = static_cast<unsigned>(random() % 50),
                  .seed = GetParam() + 1U});
  std::vector<std::unique_ptr<Ring>> rings;
  for (unsigned r = 0; r < 8; ++r) {
    rings.push_back(std::make_unique<Ring>(bench, r * 9, 5));
  }
  for (unsigned round = 0; round < 60; ++round) {
    Ring& ring = *rings[random() % rings.size()];
    switch (random() % 8) {
    case 0:
      ring.restart();
      break;
    case 1:
      bench.invalidate();
      break;
    case 2:
      bench.fail_reads(dram(shared_source + 64 * (random() % 512)));
      break;
    case 3:
      bench.fail_writes(dram(own_base(0) + 64 * (random() % 512)));
      break;
    case 4:
      bench.fail_nothing();
      bench.set_channels(1 + static_cast<unsigned>(random() % DmaBench::channels));
      break;
    default:
      if (ring.tail() - ring.head() < 20) {
        for (unsigned i = 0; i < 8; ++i) {
          ring.put(copy({dram_space, own_base(0) + random() % 0x4000},
                        {dram_space, shared_source + random() % 0x4000}, random() % 9000)
                       .set_flag_interrupt(random() % 2 == 0));
        }
        ring.doorbell();
      }
    }
    bench.run(random() % 300);
  }
  bench.fail_nothing();
  bench.run_until_quiescent();
  for (const auto& ring : rings) {
    ring->restart();
    ring->submit(write_value({host_space, words + 8U * ring->number()}, 3, 99)
                     .set_sequence(5)
                     .set_flag_complete(true));
  }
  bench.run_until_quiescent();
  for (const auto& ring : rings) {
    ASSERT_EQ(ring->state(), hw::RingState::idle);
    ASSERT_EQ(ring->record().sequence(), 5U);
    ASSERT_EQ(bench.memory().get<std::uint64_t>({Target::host, words + 8U * ring->number()}), 99U);
  }
}

}  // namespace
}  // namespace datum::rtl_bench
