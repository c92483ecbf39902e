#include "driver/trace/ring_slices.hpp"

#include <algorithm>

namespace datum::trace {

namespace {

constexpr double ns_per_s = 1e9;

/// One ring's descriptors between two records.
class OpenDescriptors {
 public:
  explicit OpenDescriptors(const BoardTime& time) : time_(time) {}

  void submit(const Event& descriptor) { open_.push_back({&descriptor, nullptr, descriptor.begin_ns, 0}); }

  /// The doorbell is when the board learns of what was submitted.
  void ring(const Event& doorbell) {
    for (DescriptorSlice& slice : open_) {
      if (!is_rung(slice)) {
        slice.begin_ns = doorbell.begin_ns;
        rung_ = slice.descriptor->word(DescriptorWord::number);
      }
    }
  }

  void complete(const Event& completion) {
    const std::uint64_t earliest =
        open_.empty() ? completion.begin_ns : std::max(open_.front().begin_ns, last_end_ns_);
    const std::uint64_t end_ns =
        time_.host_ns(completion.word(CompletionWord::timer), earliest, completion.begin_ns);
    const auto last = static_cast<std::uint32_t>(completion.word(CompletionWord::number));
    std::size_t count = 0;
    while (count < open_.size() && covers(last, *open_[count].descriptor)) {
      close(open_[count], &completion, end_ns);
      ++count;
    }
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(count));
    last_end_ns_ = std::max(last_end_ns_, end_ns);
  }

  /// What never got a record.
  void abandon() {
    for (DescriptorSlice& slice : open_) {
      close(slice, nullptr, slice.begin_ns);
    }
    open_.clear();
    rung_ = 0;
  }

  [[nodiscard]] std::vector<DescriptorSlice> take() { return std::move(closed_); }

 private:
  [[nodiscard]] bool is_rung(const DescriptorSlice& slice) const {
    const auto behind = static_cast<std::uint32_t>(slice.descriptor->word(DescriptorWord::number)) -
                        static_cast<std::uint32_t>(rung_);
    return static_cast<std::int32_t>(behind) <= 0;
  }

  /// Numbers wrap at 32 bits.
  static bool covers(std::uint32_t last, const Event& descriptor) {
    const auto number = static_cast<std::uint32_t>(descriptor.word(DescriptorWord::number));
    return static_cast<std::int32_t>(last - number) >= 0;
  }

  void close(DescriptorSlice slice, const Event* completion, std::uint64_t end_ns) {
    slice.completion = completion;
    slice.begin_ns = std::max(slice.begin_ns, last_end_ns_);
    slice.end_ns = std::max(end_ns, slice.begin_ns);
    closed_.push_back(slice);
  }

  const BoardTime& time_;
  std::vector<DescriptorSlice> open_;
  std::vector<DescriptorSlice> closed_;
  std::uint64_t last_end_ns_ = 0;
  std::uint64_t rung_ = 0;
};

}  // namespace

void BoardTime::add_reading(const Event& clock) { readings_.push_back(&clock); }

std::uint64_t BoardTime::host_ns(std::uint64_t ticks, std::uint64_t earliest_ns,
                                 std::uint64_t latest_ns) const {
  const Event* nearest = nullptr;
  for (const Event* reading : readings_) {
    if (nearest == nullptr || reading->begin_ns <= latest_ns) {
      nearest = reading;
    }
  }
  if (nearest == nullptr || nearest->words[1] == 0) {
    return latest_ns;
  }
  const auto apart = static_cast<double>(static_cast<std::int64_t>(ticks - nearest->words[0]));
  const double ns =
      static_cast<double>(nearest->begin_ns) + apart / static_cast<double>(nearest->words[1]) * ns_per_s;
  if (ns <= static_cast<double>(earliest_ns)) {
    return std::min(earliest_ns, latest_ns);
  }
  return ns >= static_cast<double>(latest_ns) ? latest_ns : static_cast<std::uint64_t>(ns);
}

std::optional<std::uint64_t> BoardTime::cycle(std::uint64_t ticks) const {
  const Event* before = nullptr;
  const Event* after = nullptr;
  for (const Event* reading : readings_) {
    if (reading->word(ClockWord::timer) <= ticks) {
      before = reading;
    } else if (after == nullptr) {
      after = reading;
    }
  }
  const Event* const nearest = before != nullptr ? before : after;
  if (nearest == nullptr || nearest->word(ClockWord::timer_hz) == 0 ||
      nearest->word(ClockWord::clock_hz) == 0) {
    return std::nullopt;
  }
  const auto first = static_cast<double>(nearest->word(ClockWord::cycles));
  const auto apart = static_cast<double>(static_cast<std::int64_t>(ticks - nearest->word(ClockWord::timer)));
  double cycle = first + apart * static_cast<double>(nearest->word(ClockWord::clock_hz)) /
                             static_cast<double>(nearest->word(ClockWord::timer_hz));
  const bool no_reset_between = before != nullptr && after != nullptr &&
                                after->word(ClockWord::cycles) >= before->word(ClockWord::cycles);
  if (no_reset_between && cycle > static_cast<double>(after->word(ClockWord::cycles))) {
    // The clock is slower than it says, as in a simulation, or stood still.
    cycle = first +
            apart * static_cast<double>(after->word(ClockWord::cycles) - before->word(ClockWord::cycles)) /
                static_cast<double>(after->word(ClockWord::timer) - before->word(ClockWord::timer));
  }
  return cycle <= 0 ? 0 : static_cast<std::uint64_t>(cycle);
}

std::vector<DescriptorSlice> slices_of_ring(const std::vector<const Event*>& events, const BoardTime& time) {
  OpenDescriptors ring(time);
  for (const Event* event : events) {
    switch (event->kind) {
    case Kind::ring_start:
      ring.abandon();
      break;
    case Kind::descriptor:
      ring.submit(*event);
      break;
    case Kind::doorbell:
      ring.ring(*event);
      break;
    case Kind::completion:
      ring.complete(*event);
      break;
    default:
      break;
    }
  }
  ring.abandon();
  return ring.take();
}

}  // namespace datum::trace
