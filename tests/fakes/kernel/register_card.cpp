#include "tests/fakes/kernel/register_card.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

#include <datum/hw/registers.hpp>

#include "tests/fakes/kernel/fake_kernel.hpp"

namespace datum::test {

namespace {

constexpr std::uint64_t message_table_bytes = 0x2000;

std::byte* make_memory(UniqueFd& file, std::uint64_t bytes) {
  file.reset(::memfd_create("card", MFD_CLOEXEC));
  if (!file.valid() || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    throw std::runtime_error("no memory for a card");
  }
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (base == MAP_FAILED) {
    throw std::runtime_error("no address space for a card");
  }
  return static_cast<std::byte*>(base);
}

}  // namespace

RegisterCard::RegisterCard() : RegisterCard(Shape{}) {}

RegisterCard::RegisterCard(Shape shape) : shape_(std::move(shape)), vector_fds_(shape_.vectors, -1) {
  registers_ = make_memory(register_file_, register_bytes);
  memory_ = make_memory(memory_file_, memory_bytes);
  reset();
}

RegisterCard::~RegisterCard() {
  ::munmap(registers_, register_bytes);
  ::munmap(memory_, memory_bytes);
}

void RegisterCard::reset() {
  std::memset(registers_, 0, register_bytes);
  const std::uint32_t magic = hw::magic_value;
  std::memcpy(registers_ + hw::magic, &magic, sizeof magic);
  const std::uint64_t aperture = memory_bytes / 2;
  std::memcpy(registers_ + hw::aperture_fixed_bytes, &aperture, sizeof aperture);
}

std::array<CardBar, 6> RegisterCard::bars() const {
  std::array<CardBar, 6> all{};
  all[0] = {register_bytes, shape_.registers_in_memory ? register_file_.get() : -1, {}};
  if (shape_.has_bar2) {
    all[2] = {memory_bytes, shape_.memory_mapped ? memory_file_.get() : -1, shape_.sparse};
  }
  all[4] = {message_table_bytes, -1, {}};
  return all;
}

template <class Word>
Word RegisterCard::value(std::uint64_t offset) const {
  Word word{};
  std::memcpy(&word, registers_ + offset, sizeof word);
  return word;
}

void RegisterCard::read_bar(unsigned index, std::uint64_t offset, std::span<std::byte> to) {
  file_accesses.push_back(to.size());
  if (index == 4) {
    std::ranges::fill(to, std::byte{0});
    return;
  }
  std::memcpy(to.data(), (index == 0 ? registers_ : memory_) + offset, to.size());
}

void RegisterCard::write_bar(unsigned index, std::uint64_t offset, std::span<const std::byte> from) {
  file_accesses.push_back(from.size());
  if (index == 4) {
    return;
  }
  if (index == 0 && offset == hw::magic) {
    return;
  }
  std::memcpy((index == 0 ? registers_ : memory_) + offset, from.data(), from.size());
  if (index == 0 && offset == raise) {
    raise_vector(value<std::uint32_t>(raise));
  }
  if (index == 0 && offset == go) {
    const std::uint32_t result = copy();
    std::memcpy(registers_ + outcome, &result, sizeof result);
  }
}

void RegisterCard::raise_vector(unsigned vector) const {
  if (vector < vector_fds_.size() && vector_fds_[vector] >= 0) {
    FakeKernel::signal(vector_fds_[vector]);
  }
}

bool RegisterCard::mapped(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  return mappings_.emplace(raw(iova), Mapped{host, access}).second;
}

void RegisterCard::unmapped(Iova iova, std::uint64_t) { mappings_.erase(raw(iova)); }

void RegisterCard::connect(unsigned vector, int fd) { vector_fds_[vector] = fd; }

std::byte* RegisterCard::reach(std::uint64_t iova, std::uint64_t bytes, board::DmaAccess wanted) const {
  const auto after = mappings_.upper_bound(iova);
  if (after == mappings_.begin()) {
    return nullptr;
  }
  const auto& [base, entry] = *std::prev(after);
  const bool allowed = (static_cast<unsigned>(entry.access) & static_cast<unsigned>(wanted)) != 0;
  if (!allowed || iova - base + bytes > entry.host.size()) {
    return nullptr;
  }
  return entry.host.data() + (iova - base);
}

std::uint32_t RegisterCard::copy() const {
  const auto bytes = value<std::uint32_t>(length);
  if (!bus_master_) {
    return not_bus_master;
  }
  const std::byte* const from = reach(value<std::uint64_t>(source), bytes, board::DmaAccess::read);
  if (from == nullptr) {
    return source_refused;
  }
  std::byte* const to = reach(value<std::uint64_t>(destination), bytes, board::DmaAccess::write);
  if (to == nullptr) {
    return destination_refused;
  }
  std::memcpy(to, from, bytes);
  return copied;
}

}  // namespace datum::test
