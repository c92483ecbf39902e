// The memory of a drawn program.
#include <algorithm>

#include "tests/fuzz/api_program.hpp"

namespace datum::test {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t most_places = 24;

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

std::size_t draw_size(Input& input) {
  switch (input.below(4)) {
  case 0:
    return input.below(200);
  case 1:
    return page_bytes * input.below(8);
  default:
    return input.below(1U << 16U);
  }
}

bool is_power_of_two_or_0(std::size_t value) { return (value & (value - 1)) == 0; }

}  // namespace

void ApiProgram::allocate() {
  const std::size_t context = draw_context();
  const std::uint64_t which = input_.below(3);
  const bool absurd = input_.below(32) == 0;
  const std::size_t size = absurd ? input_.number<std::uint64_t>() : draw_size(input_);
  const std::size_t alignment = input_.below(8) == 0 ? input_.number<std::uint32_t>()
                                : input_.flip()      ? 0
                                                     : std::size_t{1} << input_.below(17);
  if (places_.size() >= most_places || (absurd && size < 64U << 20U)) {
    return;
  }
  const auto on_device = of_type<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  auto on_host = of_type<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  const bool read_only = which != 0 && input_.below(16) == 0;
  on_host.flags = read_only ? ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY : 0U;
  const ze_context_handle_t handle = worlds_[context].handle;
  void* made = nullptr;
  const ze_result_t code =
      which == 0   ? api_.memory.pfnAllocDevice(handle, &on_device, size, alignment, driver_.device(), &made)
      : which == 1 ? api_.memory.pfnAllocHost(handle, &on_host, size, alignment, &made)
                   : api_.memory.pfnAllocShared(handle, &on_device, &on_host, size, alignment,
                                                driver_.device(), &made);
  judge(code);
  constexpr std::size_t most_alignment = std::size_t{1} << 30U;
  const bool right = size != 0 && !absurd && is_power_of_two_or_0(alignment) && alignment <= most_alignment;
  if (!right) {
    require(code != ZE_RESULT_SUCCESS, "what cannot be is refused");
    return;
  }
  succeed(code, "a little memory can be had");
  Place place;
  place.address = reinterpret_cast<std::uintptr_t>(made);
  place.size = size;
  place.context = context;
  place.type = which == 0 ? ZE_MEMORY_TYPE_DEVICE : which == 1 ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_SHARED;
  place.content = std::make_shared<Content>(size);
  place.boards_may_write = !read_only;
  require(made != nullptr && (alignment == 0 || place.address % alignment == 0),
          "memory is aligned as asked");
  for (const Place& other : places_) {
    require(place.address + size <= other.address || other.address + other.size <= place.address,
            "no two allocations share a byte of addresses");
  }
  places_.push_back(std::move(place));
}

void ApiProgram::drop(std::size_t index) {
  Place& place = places_[index];
  const ze_context_handle_t handle = worlds_[place.context].handle;
  if (place.kind == Place::Kind::opened) {
    succeed(api_.memory.pfnCloseIpcHandle(handle, pointer(place.address)), "opened memory can be closed");
  } else if (place.kind == Place::Kind::mapping) {
    succeed(api_.address.pfnUnmap(handle, pointer(place.address), place.size), "a mapping can be unmapped");
  } else {
    succeed(api_.memory.pfnFree(handle, pointer(place.address)), "an allocation can be freed");
  }
  freed_.push_back(place.address);
  places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(index));
}

void ApiProgram::free_one() {
  if (!places_.empty()) {
    drop(input_.below(places_.size()));
  }
}

/// A pointer that is no allocation's first byte, or of another context, or opened memory.
void ApiProgram::free_wrong() {
  const std::size_t context = draw_context();
  std::uintptr_t address = input_.number<std::uint64_t>();
  if (!freed_.empty() && input_.flip()) {
    address = freed_[input_.below(freed_.size())];
  } else if (!places_.empty() && input_.flip()) {
    const Place& place = places_[input_.below(places_.size())];
    address = place.address + input_.below(place.size + 1);
  }
  const bool right = std::ranges::any_of(places_, [&](const Place& place) {
    return place.kind == Place::Kind::allocation && place.address == address && place.context == context;
  });
  if (right || address == 0) {
    return;
  }
  const ze_result_t code = api_.memory.pfnFree(worlds_[context].handle, pointer(address));
  judge(code);
  require(code != ZE_RESULT_SUCCESS, "what is not the context's to free is not freed");
}

void ApiProgram::ask() {
  const std::size_t context = draw_context();
  std::uintptr_t address = input_.number<std::uint64_t>() | 1U;
  if (!places_.empty() && input_.below(8) != 0) {
    const Place& place = places_[input_.below(places_.size())];
    address = place.address + input_.below(place.size + 2);
  } else if (!freed_.empty() && input_.flip()) {
    address = freed_[input_.below(freed_.size())];
  }
  const auto found = std::ranges::find_if(places_, [&](const Place& place) {
    return place.context == context && address - place.address < place.size;
  });
  const ze_context_handle_t handle = worlds_[context].handle;
  auto properties =
      of_type<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
  ze_device_handle_t device = nullptr;
  succeed(api_.memory.pfnGetAllocProperties(handle, pointer(address), &properties, &device),
          "any pointer can be asked about");
  void* base = nullptr;
  std::size_t size = 0;
  const ze_result_t code = api_.memory.pfnGetAddressRange(handle, pointer(address), &base, &size);
  judge(code);
  if (found == places_.end()) {
    require(properties.type == ZE_MEMORY_TYPE_UNKNOWN && device == nullptr, "what is not live is unknown");
    require(code == ZE_RESULT_ERROR_ADDRESS_NOT_FOUND, "what is not live has no range");
    return;
  }
  require(properties.type == found->type && properties.id != 0, "live memory is known as what it is");
  require((device != nullptr) == (found->type != ZE_MEMORY_TYPE_HOST), "memory of a device names it");
  succeed(code, "live memory has a range");
  require(base == pointer(found->address) && size == found->size, "the range is the one that was asked for");
}

/// Exports an allocation and opens it again, in either context.
void ApiProgram::share() {
  if (places_.empty() || places_.size() >= most_places) {
    return;
  }
  const Place from = places_[input_.below(places_.size())];
  const std::size_t context = draw_context();
  ze_ipc_mem_handle_t handle{};
  const ze_result_t code =
      api_.memory.pfnGetIpcHandle(worlds_[from.context].handle, pointer(from.address), &handle);
  judge(code);
  const bool right = from.kind == Place::Kind::allocation && from.type != ZE_MEMORY_TYPE_SHARED;
  if (!right) {
    if (from.kind == Place::Kind::allocation) {
      require(code != ZE_RESULT_SUCCESS, "shared allocations have no handles");
    }
    return;
  }
  succeed(code, "an allocation has a handle");
  void* opened = nullptr;
  succeed(api_.memory.pfnOpenIpcHandle(worlds_[context].handle, driver_.device(), handle, 0, &opened),
          "a handle can be opened");
  Place place = from;
  place.kind = Place::Kind::opened;
  place.address = reinterpret_cast<std::uintptr_t>(opened);
  place.context = context;
  places_.push_back(std::move(place));
}

void ApiProgram::reserve() {
  const std::size_t size = page_bytes * (1 + input_.below(16));
  const std::size_t context = draw_context();
  if (reservations_.size() >= 4) {
    return;
  }
  void* made = nullptr;
  succeed(api_.address.pfnReserve(worlds_[context].handle, nullptr, size, &made),
          "addresses can be reserved");
  reservations_.push_back({reinterpret_cast<std::uintptr_t>(made), size, context});
}

void ApiProgram::make_physical() {
  const std::size_t context = draw_context();
  const bool on_host = input_.flip();
  auto desc = of_type<ze_physical_mem_desc_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC);
  desc.flags = on_host ? ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST : ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE;
  desc.size = page_bytes * (1 + input_.below(12));
  if (physicals_.size() >= 4) {
    return;
  }
  Physical made;
  succeed(api_.physical.pfnCreate(worlds_[context].handle, driver_.device(), &desc, &made.handle),
          "physical memory can be had");
  made.context = context;
  made.type = on_host ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE;
  made.content = std::make_shared<Content>(desc.size);
  physicals_.push_back(std::move(made));
}

void ApiProgram::map() {
  if (reservations_.empty() || physicals_.empty()) {
    return;
  }
  const Reservation& at = reservations_[input_.below(reservations_.size())];
  const Physical& of = physicals_[input_.below(physicals_.size())];
  Place place;
  place.kind = Place::Kind::mapping;
  place.address = at.address + page_bytes * input_.below(20);
  place.size = page_bytes * (1 + input_.below(8));
  place.offset = page_bytes * input_.below(12);
  place.context = at.context;
  place.type = of.type;
  place.content = of.content;
  place.boards_may_write = input_.below(4) != 0;
  const bool inside = place.address + place.size <= at.address + at.size &&
                      place.offset + place.size <= of.content->bytes.size() && of.context == at.context;
  const bool taken = std::ranges::any_of(places_, [&](const Place& other) {
    return place.address < other.address + other.size && other.address < place.address + place.size;
  });
  const ze_result_t code = api_.address.pfnMap(
      worlds_[at.context].handle, pointer(place.address), place.size, of.handle, place.offset,
      place.boards_may_write ? ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE : ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
  judge(code);
  require((code == ZE_RESULT_SUCCESS) == (inside && !taken), "what can be mapped is, and nothing else");
  if (code == ZE_RESULT_SUCCESS) {
    places_.push_back(std::move(place));
  }
}

void ApiProgram::unmap() {
  for (std::size_t index = 0; index < places_.size(); ++index) {
    if (places_[index].kind == Place::Kind::mapping && input_.flip()) {
      return drop(index);
    }
  }
}

/// Takes what is mapped there along.
void ApiProgram::free_reservation() {
  if (reservations_.empty()) {
    return;
  }
  const std::size_t which = input_.below(reservations_.size());
  const Reservation gone = reservations_[which];
  succeed(api_.address.pfnFree(worlds_[gone.context].handle, pointer(gone.address), gone.size),
          "reserved addresses can be given back");
  std::erase_if(places_, [&](const Place& place) {
    return place.address >= gone.address && place.address < gone.address + gone.size;
  });
  reservations_.erase(reservations_.begin() + static_cast<std::ptrdiff_t>(which));
}

void ApiProgram::end_memory() {
  while (!places_.empty()) {
    drop(places_.size() - 1);
  }
  while (!reservations_.empty()) {
    free_reservation();
  }
  for (const Physical& physical : physicals_) {
    succeed(api_.physical.pfnDestroy(worlds_[physical.context].handle, physical.handle),
            "physical memory that is not mapped can be destroyed");
  }
}

}  // namespace datum::test
