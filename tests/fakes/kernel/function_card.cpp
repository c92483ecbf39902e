#include "tests/fakes/kernel/function_card.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace datum::test {

std::array<CardBar, 6> FunctionCard::bars() const {
  std::array<CardBar, 6> all{};
  for (std::size_t index = 0; index < all.size(); ++index) {
    all[index].size_bytes = function_->info().bars[index].size_bytes;
  }
  return all;
}

void FunctionCard::read_bar(unsigned index, std::uint64_t offset, std::span<std::byte> to) {
  const Result<board::Bar*> bar = function_->bar(index);
  if (!bar) {
    std::ranges::fill(to, std::byte{0xff});  // the interrupt table, which a kernel hides as well
    return;
  }
  const bool aligned = offset % to.size() == 0;
  if (aligned && to.size() == sizeof(std::uint32_t)) {
    const std::uint32_t word = (*bar)->read32(offset);
    std::memcpy(to.data(), &word, sizeof word);
  } else if (aligned && to.size() == sizeof(std::uint64_t)) {
    const std::uint64_t word = (*bar)->read64(offset);
    std::memcpy(to.data(), &word, sizeof word);
  } else {
    (*bar)->read_block(offset, to);
  }
}

void FunctionCard::write_bar(unsigned index, std::uint64_t offset, std::span<const std::byte> from) {
  const Result<board::Bar*> bar = function_->bar(index);
  if (!bar) {
    return;
  }
  const bool aligned = offset % from.size() == 0;
  if (aligned && from.size() == sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, from.data(), sizeof word);
    (*bar)->write32(offset, word);
  } else if (aligned && from.size() == sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data(), sizeof word);
    (*bar)->write64(offset, word);
  } else {
    (*bar)->write_block(offset, from);
  }
}

bool FunctionCard::mapped(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  return function_->dma_map(iova, host, access).ok();
}

void FunctionCard::unmapped(Iova iova, std::uint64_t bytes) {
  static_cast<void>(function_->dma_unmap(iova, bytes));
}

/// The descriptor of the backend is made to lead to the board's own eventfd, so that nobody has to carry
/// interrupts across. It stays so when the vector is disconnected: the backend closes it next.
void FunctionCard::connect(unsigned vector, int fd) {
  if (const Result<int> own = function_->interrupt_fd(vector); own && fd >= 0) {
    ::dup3(*own, fd, O_CLOEXEC);
  }
}

void FunctionCard::reset() { static_cast<void>(function_->reset(board::ResetKind::function)); }

}  // namespace datum::test
