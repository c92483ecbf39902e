#include "tests/fakes/kernel/iommu_rules.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>

namespace datum::test {

namespace {

bool writes(board::DmaAccess access) {
  return (static_cast<unsigned>(access) & static_cast<unsigned>(board::DmaAccess::write)) != 0;
}

/// Brings the pages in for the access, which is what pinning does.
int pin(std::span<std::byte> host, board::DmaAccess access) {
  const int advice = writes(access) ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  return ::madvise(host.data(), host.size(), advice) == 0 ? 0 : -EFAULT;
}

}  // namespace

IommuRules::~IommuRules() {
  while (!entries_.empty()) {
    drop(entries_.begin());
  }
}

int IommuRules::attach(Slot& slot) {
  for (const auto& [iova, entry] : entries_) {
    if (!slot.card->mapped(Iova{iova}, entry.host, entry.access)) {
      return -EFAULT;
    }
  }
  attached_.push_back(&slot);
  return 0;
}

void IommuRules::detach(const Slot& slot) {
  for (const auto& [iova, entry] : entries_) {
    slot.card->unmapped(Iova{iova}, entry.host.size());
  }
  std::erase(attached_, &slot);
}

int IommuRules::check(Iova iova, std::uint64_t bytes) const {
  const KernelTraits& traits = machine_.traits;
  const std::uint64_t first = raw(iova);
  if (bytes == 0 || bytes % traits.granule_bytes != 0 || first % traits.granule_bytes != 0) {
    return -EINVAL;
  }
  const std::uint64_t last = first + (bytes - 1);
  if (last < first) {
    return flavour_ == Flavour::type1 ? -EINVAL : -EOVERFLOW;
  }
  if (std::ranges::none_of(traits.iova_ranges, [&](const board::IovaRange& range) {
        return first >= raw(range.first) && last <= raw(range.last);
      })) {
    return -EINVAL;
  }
  const auto after = entries_.upper_bound(last);
  if (after != entries_.begin()) {
    const auto& [base, entry] = *std::prev(after);
    if (base + entry.host.size() > first) {
      return -EEXIST;
    }
  }
  if (flavour_ == Flavour::type1 && entries_left() == 0) {
    return -ENOSPC;
  }
  const bool limited = traits.memlock_bytes != RLIM_INFINITY && !traits.may_lock_anything;
  return limited && machine_.locked_bytes + bytes > traits.memlock_bytes ? -ENOMEM : 0;
}

std::uint32_t IommuRules::entries_left() const {
  return machine_.traits.dma_entry_limit - static_cast<std::uint32_t>(entries_.size());
}

int IommuRules::add(Iova iova, std::span<std::byte> host, board::DmaAccess access, bool owned) {
  if (const int result = pin(host, access); result != 0) {
    return result;
  }
  for (Slot* slot : attached_) {
    if (!slot->card->mapped(iova, host, access)) {
      return -EFAULT;
    }
  }
  entries_.emplace(raw(iova), Entry{host, access, owned});
  machine_.locked_bytes += host.size();
  return 0;
}

int IommuRules::map(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  if (reinterpret_cast<std::uintptr_t>(host.data()) % machine_.traits.granule_bytes != 0) {
    return -EINVAL;
  }
  const int result = check(iova, host.size());
  return result != 0 ? result : add(iova, host, access, false);
}

int IommuRules::map_file(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                         board::DmaAccess access) {
  if (const int result = check(iova, bytes); result != 0) {
    return result;
  }
  const int protection = writes(access) ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const base = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (base == MAP_FAILED) {
    return -errno;
  }
  const int result = add(iova, {static_cast<std::byte*>(base), bytes}, access, true);
  if (result != 0) {
    ::munmap(base, bytes);
  }
  return result;
}

void IommuRules::drop(std::map<std::uint64_t, Entry>::iterator entry) {
  const auto [iova, what] = *entry;
  for (Slot* slot : attached_) {
    slot->card->unmapped(Iova{iova}, what.host.size());
  }
  machine_.locked_bytes -= what.host.size();
  if (what.owned) {
    ::munmap(what.host.data(), what.host.size());
  }
  entries_.erase(entry);
}

int IommuRules::unmap(Iova iova, std::uint64_t& bytes) {
  const std::uint64_t first = raw(iova);
  const std::uint64_t last = first + (bytes - 1);
  auto at = entries_.upper_bound(first);
  if (at != entries_.begin() && std::prev(at)->first + std::prev(at)->second.host.size() > first) {
    --at;
  }
  // A range may hold several mappings, but it must not cut one.
  for (auto look = at; look != entries_.end() && look->first <= last; ++look) {
    if (look->first < first || look->first + (look->second.host.size() - 1) > last) {
      return flavour_ == Flavour::type1 ? -EINVAL : -ENOENT;
    }
  }
  std::uint64_t unmapped = 0;
  while (at != entries_.end() && at->first <= last) {
    unmapped += at->second.host.size();
    drop(at++);
  }
  bytes = unmapped - std::min(unmapped, machine_.traits.unmap_shortfall_bytes);
  return flavour_ == Flavour::iommufd && unmapped == 0 ? -ENOENT : 0;
}

}  // namespace datum::test
