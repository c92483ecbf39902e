#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tools/bench/groups.hpp"
#include "tools/bench/map_calls.hpp"
#include "tools/bench/micro_benchmark.hpp"
#include "tools/bench/pages.hpp"
#include "vfio_backend/open_device.hpp"
#include "vfio_backend/sysfs.hpp"

namespace datum::bench {
namespace {

template <class T>
T value_of(Result<T> result) {
  if (!result) {
    throw Failure(result.error().message);
  }
  return std::move(result).value();
}

void require(const Status& status) {
  if (!status) {
    throw Failure(status.error().message);
  }
}

/// The card of DATUM_BOARDS, else the first that is bound, behind its IOMMU and not used otherwise.
vfio::OpenedDevice open_card() {
  vfio::Syscalls& syscalls = vfio::kernel_syscalls();
  const char* const wish = std::getenv("DATUM_BOARDS");
  const vfio::CardAddress address = value_of(vfio::parse_card_address(wish != nullptr ? wish : "vfio:"));
  const std::vector<std::string> bound = vfio::bound_devices(syscalls);
  if (address.pci.empty() && bound.empty()) {
    throw Failure("no PCI device of this machine is bound to vfio-pci");
  }
  const vfio::PciDevice device =
      value_of(vfio::look_up_device(syscalls, address.pci.empty() ? bound.front() : address.pci));
  require(vfio::check_usable(syscalls, device));
  return value_of(vfio::open_device(syscalls, device, address.forced));
}

/// An I/O address with room for the largest of the sizes.
Iova some_room(const vfio::SpaceLimits& limits) {
  const std::size_t most_bytes = std::ranges::max(mapped_sizes);
  for (const board::IovaRange& range : limits.iova_ranges) {
    const std::uint64_t first = align_up(raw(range.first) + 1, large_page_bytes);
    if (first < raw(range.last) && raw(range.last) - first >= most_bytes) {
      return Iova{first};
    }
  }
  throw Failure("the IOMMU offers no addresses");
}

}  // namespace

std::vector<Figure> run_bare_mapping_group() {
  const vfio::OpenedDevice card = open_card();
  const Iova iova = some_room(card.space->limits());
  std::vector<Figure> figures;
  for (const std::size_t bytes : mapped_sizes) {
    for (const PageKind kind : {PageKind::small, PageKind::huge}) {
      const Pages pages(bytes, kind);
      const Timing timing = repeat([&] {
        static_cast<void>(take_map_calls());
        require(card.space->map(iova, {pages.data(), bytes}, board::DmaAccess::read_write));
        const MapCalls calls = take_map_calls();
        if (value_of(card.space->unmap(iova, bytes)) != bytes) {
          throw Failure("the kernel unmapped less than was mapped");
        }
        return calls.ns;
      });
      figures.push_back({mapping_name(bytes, kind), timing.ns / 1000, "us", std::nullopt, Better::lower,
                         std::nullopt, timing.noisy});
    }
  }
  return figures;
}

}  // namespace datum::bench
