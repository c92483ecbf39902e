#include "tests/fakes/hostile_board.hpp"

#include <sys/mman.h>

#include <datum/hw/registers.hpp>

namespace datum::test {
namespace {

constexpr std::uint64_t nowhere = ~0ULL;
/// Far enough from the host's clock that the driver takes the board's time for its own.
constexpr std::uint64_t clock_offset_ns = 1'000'000'000;
/// Words that are looked through for one that is in use.
constexpr std::size_t words_to_search = 512;

constexpr std::uint64_t config_stride = hw::ring_base(1) - hw::ring_base(0);

}  // namespace

class HostileBoard::HostileBar final : public board::Bar {
 public:
  HostileBar(HostileBoard& owner, board::Bar& inner, unsigned index, std::uint64_t size_bytes)
      : owner_(owner), inner_(inner), index_(index), size_bytes_(size_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept override {
    owner_.act();
    return static_cast<std::uint32_t>(owner_.read_of(index_, inner_.read32(offset)));
  }

  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept override {
    owner_.act();
    return owner_.read_of(index_, inner_.read64(offset));
  }

  void write32(std::uint64_t offset, std::uint32_t value) noexcept override {
    if (const std::uint64_t place = place_of(offset, value); place != nowhere) {
      inner_.write32(place, value);
    }
  }

  void write64(std::uint64_t offset, std::uint64_t value) noexcept override {
    if (const std::uint64_t place = place_of(offset, value); place != nowhere) {
      inner_.write64(place, value);
    }
  }

  void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept override {
    inner_.read_block(offset, to);
    for (std::byte& one : to) {
      one = static_cast<std::byte>(owner_.read_of(index_, static_cast<std::uint64_t>(one)));
    }
  }

  void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept override {
    inner_.write_block(offset, from);
  }

 private:
  std::uint64_t place_of(std::uint64_t offset, std::uint64_t value) {
    owner_.act();
    if (index_ != 0) {
      return offset;
    }
    owner_.note_write(offset, value);
    return owner_.place_of_write(offset);
  }

  HostileBoard& owner_;
  board::Bar& inner_;
  unsigned index_;
  std::uint64_t size_bytes_;
};

HostileBoard::HostileBoard(std::unique_ptr<board::PcieFunction> inner, const Hostility& hostility,
                           unsigned speed)
    : ForwardingFunction(std::move(inner)),
      hostility_(hostility),
      speed_(speed),
      begun_ns_(ForwardingFunction::clock().now_ns),
      info_(ForwardingFunction::info()),
      random_(hostility.seed) {
  if (hostility.identity) {
    lie_about_identity();
  }
}

HostileBoard::~HostileBoard() = default;

void HostileBoard::lie_about_identity() {
  const auto anything = [&](std::uint64_t truth) {
    switch (random() % 4) {
    case 0:
      return truth;
    case 1:
      return random() % (truth + 1);
    case 2:
      return truth << (random() % 24);
    default:
      return random();
    }
  };
  for (board::BarInfo& bar : info_.bars) {
    bar.size_bytes = anything(bar.size_bytes);
  }
  info_.vectors = static_cast<unsigned>(anything(info_.vectors));
  info_.numa_node = static_cast<int>(random() % 5) - 2;
  info_.link = {static_cast<unsigned>(random() % 9), static_cast<unsigned>(random() % 40)};
}

Result<board::Bar*> HostileBoard::bar(unsigned index) {
  Result<board::Bar*> inner = ForwardingFunction::bar(index);
  if (!inner) {
    return inner;
  }
  const std::lock_guard lock(mutex_);
  std::unique_ptr<HostileBar>& bar = bars_.at(index);
  if (bar == nullptr) {
    const std::uint64_t size = hostility_.identity ? info_.bars[index].size_bytes : (*inner)->size_bytes();
    bar = std::make_unique<HostileBar>(*this, **inner, index, size);
  }
  return bar.get();
}

board::Clock HostileBoard::clock() noexcept {
  const board::Clock now = ForwardingFunction::clock();
  return {begun_ns_ + clock_offset_ns + (now.now_ns - begun_ns_) * speed_, now.wait_scale};
}

Status HostileBoard::dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                                board::DmaAccess access) {
  Status mapped = ForwardingFunction::dma_map_fd(iova, fd, offset, bytes, access);
  if (mapped && access != board::DmaAccess::read) {
    void* const base =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (base != MAP_FAILED) {
      const std::lock_guard lock(mutex_);
      files_.insert_or_assign(raw(iova), Mapping(base, bytes));
    }
  }
  return mapped;
}

Status HostileBoard::dma_unmap(Iova iova, std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    files_.erase(raw(iova));
  }
  return ForwardingFunction::dma_unmap(iova, bytes);
}

Result<board::WaitOutcome> HostileBoard::wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) {
  act();
  if (hostile_.load() && happens(hostility_.false_interrupts)) {
    return board::WaitOutcome::interrupt;
  }
  while (true) {
    const std::uint64_t now_ns = clock().now_ns;
    const std::uint64_t inner_deadline_ns =
        deadline_ns == board::no_deadline
            ? board::no_deadline
            : ForwardingFunction::clock().now_ns + (deadline_ns > now_ns ? deadline_ns - now_ns : 0) / speed_;
    Result<board::WaitOutcome> outcome = ForwardingFunction::wait(vector, wake_fd, inner_deadline_ns);
    if (!outcome || *outcome != board::WaitOutcome::interrupt || !hostile_.load() ||
        !happens(hostility_.lost_interrupts)) {
      return outcome;
    }
  }
}

bool HostileBoard::happens(unsigned chance) {
  const std::lock_guard lock(mutex_);
  return random() % 256 < chance;
}

std::uint64_t HostileBoard::lie_about(std::uint64_t truth) {
  switch (random() % 8) {
  case 0:
    return ~0ULL;
  case 1:
    return 0;
  case 2:
    return truth ^ (1ULL << (random() % 64));
  case 3:
    return truth + 1 + random() % 4;
  case 4:
    return truth - 1 - random() % 4;
  case 5:
    return random() % 64;
  case 6:
    return seen_[random() % seen_.size()];
  default:
    return random();
  }
}

std::uint64_t HostileBoard::read_of(unsigned bar, std::uint64_t truth) {
  if (!hostile_.load()) {
    return truth;
  }
  const std::lock_guard lock(mutex_);
  seen_[next_seen_++ % seen_.size()] = truth;
  const unsigned chance = bar == 0 ? hostility_.registers : hostility_.aperture;
  return random() % 256 < chance ? lie_about(truth) : truth;
}

std::uint64_t HostileBoard::place_of_write(std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  if (!hostile_.load() || random() % 256 >= hostility_.lost_writes) {
    return offset;
  }
  return random() % 2 == 0 ? nowhere : random() % hw::bar0_bytes & ~7ULL;
}

/// Written by the driver before the board is hostile, too: what is lied about has to be known.
void HostileBoard::note_write(std::uint64_t offset, std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  seen_[next_seen_++ % seen_.size()] = value;
  if (offset < hw::ring_base(0) || offset >= hw::ring_base(0) + rings * config_stride) {
    return;
  }
  const auto ring = static_cast<unsigned>((offset - hw::ring_base(0)) / config_stride);
  if (offset == hw::ring_base(ring)) {
    places_[ring].slots = Iova{value};
  } else if (offset == hw::ring_completion(ring)) {
    places_[ring].record = Iova{value};
  } else if (offset == hw::ring_size_log2(ring)) {
    places_[ring].size_log2 = static_cast<unsigned>(value);
  }
}

void HostileBoard::act() {
  if (!hostile_.load()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (random() % 256 < hostility_.records) {
    forge_record();
  }
  if (random() % 256 < hostility_.slots) {
    overwrite_slot();
  }
  if (random() % 256 < hostility_.scribbles) {
    scribble();
  }
}

void HostileBoard::forge_record() {
  const auto ring = static_cast<unsigned>(random() % rings);
  // Rings are started from 0 up, few of them at a time.
  for (const unsigned candidate : {ring % 2, ring % 4, ring}) {
    if (std::uint64_t* const word = host_word(places_[candidate].record); word != nullptr) {
      hw::CompletionRecord record;
      record.words[0] = *word;
      switch (random() % 6) {
      case 0:
        change_word(word);
        return;
      case 1:
        record.words[0] = 0;
        break;
      case 2:
        record.words[0] = (*word & ~0xffff'ffffULL) | ((*word + random() % 4) & 0xffff'ffffULL);
        break;
      case 3:  // a status, and a reason, that may be none
        record.words[0] = (*word & ~0xffff'0000'0000ULL) | (random() % 16) << 32U | (random() % 24) << 40U;
        break;
      case 4:
        record.words[0] = ((*word + 1) & 0xffff'ffffULL) | (random() % 8) << 32U | (random() % 20) << 40U |
                          std::uint64_t{candidate} << 48U;
        break;
      default:
        record.words[0] = seen_[random() % seen_.size()];
        break;
      }
      seen_[next_seen_++ % seen_.size()] = *word;
      __atomic_store_n(word, record.words[0], __ATOMIC_RELEASE);
      return;
    }
  }
}

void HostileBoard::overwrite_slot() {
  const RingPlace& place = places_[random() % 4];
  const std::uint64_t slots = 1ULL << (place.size_log2 % 17);
  // The first ones are those that short programs use.
  const std::uint64_t slot = random() % 2 == 0 ? random() % 8 % slots : random() % slots;
  const std::uint64_t word = slot * sizeof(hw::Descriptor) / 8 + random() % 8;
  if (std::uint64_t* const at = host_word(place.slots + word * 8); at != nullptr) {
    change_word(at);
  }
}

void HostileBoard::scribble() {
  if (files_.empty()) {
    return;
  }
  auto chosen = files_.begin();
  std::advance(chosen, static_cast<std::ptrdiff_t>(random() % files_.size()));
  auto* const words = reinterpret_cast<std::uint64_t*>(chosen->second.data());
  const std::size_t count = chosen->second.size_bytes() / sizeof(std::uint64_t);
  const std::size_t from = random() % count;
  for (std::size_t at = from; at < count && at < from + words_to_search; ++at) {
    if (__atomic_load_n(words + at, __ATOMIC_RELAXED) != 0) {
      change_word(words + at);
      return;
    }
  }
}

void HostileBoard::change_word(std::uint64_t* word) {
  __atomic_store_n(word, lie_about(__atomic_load_n(word, __ATOMIC_RELAXED)), __ATOMIC_RELEASE);
}

std::uint64_t* HostileBoard::host_word(Iova iova) {
  auto behind = files_.upper_bound(raw(iova));
  if (behind == files_.begin()) {
    return nullptr;
  }
  const auto& [first, memory] = *--behind;
  const std::uint64_t offset = raw(iova) - first;
  return offset + sizeof(std::uint64_t) <= memory.size_bytes()
             ? reinterpret_cast<std::uint64_t*>(memory.data() + offset)
             : nullptr;
}

}  // namespace datum::test
