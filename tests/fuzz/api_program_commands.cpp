// The commands of a drawn program, and its own accesses to its memory.
#include <algorithm>
#include <cstring>

#include "tests/fuzz/api_program.hpp"

namespace datum::test {
namespace {

constexpr std::size_t most_bytes = 1U << 16U;

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

/// Memory of the application's own, which the driver has not made.
std::vector<std::uint8_t>& ordinary_memory() {
  static std::vector<std::uint8_t> memory = [] {
    std::vector<std::uint8_t> made(most_bytes + 64);
    for (std::size_t index = 0; index < made.size(); ++index) {
      made[index] = static_cast<std::uint8_t>(index * 7 + index / 256);
    }
    return made;
  }();
  return memory;
}

bool is_ordinary(std::uintptr_t address) {
  return address - reinterpret_cast<std::uintptr_t>(ordinary_memory().data()) < ordinary_memory().size();
}

/// What `place` holds from `address` on becomes `bytes`; or anything, where that is not known.
void write(const Place& place, std::uintptr_t address, const std::vector<std::uint8_t>& bytes,
           const std::vector<bool>& known) {
  const auto at = static_cast<std::ptrdiff_t>(place.offset + (address - place.address));
  std::ranges::copy(bytes, place.content->bytes.begin() + at);
  std::copy(known.begin(), known.end(), place.content->known.begin() + at);
}

}  // namespace

Place* ApiProgram::place_of(std::size_t context, std::uintptr_t at, std::size_t bytes) {
  const auto found = std::ranges::find_if(places_, [&](const Place& place) {
    return place.context == context && place.covers(at, bytes) && at - place.address < place.size;
  });
  return found == places_.end() ? nullptr : &*found;
}

/// Between live memory of the context, but for a range now and then that leaves its memory, or is another
/// context's: those the driver knows to refuse.
ApiProgram::Command ApiProgram::draw_command(std::size_t context) {
  Command command;
  if (places_.empty()) {
    return command;
  }
  const auto draw_place = [&]() -> const Place* {
    const Place& place = places_[input_.below(places_.size())];
    return place.kind == Place::Kind::mapping && place.context != context ? nullptr : &place;
  };
  const Place* const to = draw_place();
  if (to == nullptr || !to->boards_may_write) {
    return command;
  }
  const std::size_t offset = input_.below(to->size);
  const bool leaves = to->kind != Place::Kind::mapping && input_.below(16) == 0;
  std::size_t bytes = 1 + input_.below(to->size - offset);
  command.dst = to->address + offset;
  if (input_.flip()) {
    const std::size_t pattern = std::size_t{1} << input_.below(5);
    command.dst = command.dst & ~(pattern - 1);
    bytes = bytes & ~(pattern - 1);
    const auto drawn = input_.bytes(pattern);
    command.pattern.assign(drawn.begin(), drawn.end());
    command.pattern.resize(pattern);
    command.bytes = leaves ? to->size / pattern * pattern + pattern : bytes;
    if (command.dst < to->address || command.bytes == 0) {
      return {};
    }
    return command;
  }
  const Place* const from = input_.below(4) == 0 ? nullptr : draw_place();
  if (from == nullptr) {
    const std::size_t start = input_.below(64);
    bytes = std::min(bytes, most_bytes);
    command.src = reinterpret_cast<std::uintptr_t>(ordinary_memory().data()) + start;
  } else {
    const std::size_t start = input_.below(from->size);
    bytes = std::min(bytes, from->size - start);
    command.src = from->address + start;
  }
  command.bytes = leaves ? std::max(bytes, to->size - offset + 1) : bytes;
  if (leaves && from == nullptr) {
    return {};
  }
  if (leaves && from->kind == Place::Kind::mapping) {
    return {};
  }
  return command;
}

bool ApiProgram::is_right(std::size_t context, const Command& command) {
  const Place* const to = place_of(context, command.dst, command.bytes);
  const bool source = !command.pattern.empty() || is_ordinary(command.src) ||
                      place_of(context, command.src, command.bytes) != nullptr;
  return to != nullptr && to->boards_may_write && source;
}

ze_result_t ApiProgram::append(ze_command_list_handle_t list, const Command& command) {
  return command.pattern.empty()
             ? api_.list.pfnAppendMemoryCopy(list, pointer(command.dst), pointer(command.src), command.bytes,
                                             nullptr, 0, nullptr)
             : api_.list.pfnAppendMemoryFill(list, pointer(command.dst), command.pattern.data(),
                                             command.pattern.size(), command.bytes, nullptr, 0, nullptr);
}

void ApiProgram::apply(std::size_t context, const Command& command) {
  const Place& to = *place_of(context, command.dst, command.bytes);
  std::vector<std::uint8_t> bytes(command.bytes);
  std::vector<bool> known(command.bytes, true);
  if (!command.pattern.empty()) {
    for (std::size_t index = 0; index < bytes.size(); ++index) {
      bytes[index] = command.pattern[index % command.pattern.size()];
    }
  } else if (is_ordinary(command.src)) {
    std::memcpy(bytes.data(), pointer(command.src), bytes.size());
  } else {
    const Place& from = *place_of(context, command.src, command.bytes);
    const std::size_t source = from.offset + (command.src - from.address);
    const std::size_t target = to.offset + (command.dst - to.address);
    const bool overlap =
        from.content == to.content && source < target + command.bytes && target < source + command.bytes;
    const auto at = static_cast<std::ptrdiff_t>(source);
    std::copy_n(from.content->bytes.begin() + at, command.bytes, bytes.begin());
    std::copy_n(from.content->known.begin() + at, command.bytes, known.begin());
    if (overlap) {
      known.assign(known.size(), false);  // of such copies nobody says what comes of the bytes
    }
  }
  write(to, command.dst, bytes, known);
}

void ApiProgram::command_now() {
  const std::size_t context = draw_context();
  const Command command = draw_command(context);
  if (command.dst == 0) {
    return;
  }
  const ze_result_t code = append(worlds_[context].immediate, command);
  judge(code);
  if (is_right(context, command)) {
    succeed(code, "a command on live memory is done");
    apply(context, command);
  } else {
    require(code != ZE_RESULT_SUCCESS, "a command on other memory is refused");
  }
}

void ApiProgram::record() {
  const std::size_t context = draw_context();
  World& world = worlds_[context];
  if (world.closed) {
    require(append(world.list, {1, 1, 1, {}}) != ZE_RESULT_SUCCESS, "a closed list takes nothing");
    succeed(api_.list.pfnReset(world.list), "a list can be reset");
    world.recorded.clear();
    world.closed = false;
  }
  const Command command = draw_command(context);
  if (command.dst == 0) {
    return;
  }
  const ze_result_t code = append(world.list, command);
  judge(code);
  require((code == ZE_RESULT_SUCCESS) == is_right(context, command), "live memory is recorded, other is not");
  if (code == ZE_RESULT_SUCCESS) {
    world.recorded.push_back(command);
  }
}

void ApiProgram::execute() {
  const std::size_t context = draw_context();
  World& world = worlds_[context];
  if (!world.closed) {
    require(api_.queue.pfnExecuteCommandLists(world.queue, 1, &world.list, nullptr) != ZE_RESULT_SUCCESS,
            "an open list is not executed");
    succeed(api_.list.pfnClose(world.list), "a list can be closed");
    world.closed = true;
  }
  const bool right =
      std::ranges::all_of(world.recorded, [&](const Command& command) { return is_right(context, command); });
  const ze_result_t code = api_.queue.pfnExecuteCommandLists(world.queue, 1, &world.list, nullptr);
  judge(code);
  require((code == ZE_RESULT_SUCCESS) == right, "a list whose memory is live is executed, and no other");
  for (const Command& command : world.recorded) {
    if (right) {
      apply(context, command);
    } else if (const Place* const to = place_of(context, command.dst, command.bytes)) {
      write(*to, command.dst, std::vector<std::uint8_t>(command.bytes),
            std::vector<bool>(command.bytes, false));
    }
  }
}

void ApiProgram::use_host() {
  if (places_.empty()) {
    return;
  }
  const Place& place = places_[input_.below(places_.size())];
  if (!place.host_sees()) {
    return;
  }
  const std::size_t offset = input_.below(place.size);
  const std::size_t bytes = 1 + input_.below(std::min<std::size_t>(place.size - offset, 256));
  auto* const there = static_cast<std::uint8_t*>(pointer(place.address + offset));
  if (place.kind == Place::Kind::mapping && !place.boards_may_write) {
    return check_bytes(place);
  }
  const std::vector<std::uint8_t> written(bytes, input_.number<std::uint8_t>());
  std::memcpy(there, written.data(), bytes);
  write(place, place.address + offset, written, std::vector<bool>(bytes, true));
}

void ApiProgram::check_bytes(const Place& place) {
  std::vector<std::uint8_t> seen(place.size);
  if (place.host_sees()) {
    std::memcpy(seen.data(), pointer(place.address), place.size);
  } else {
    succeed(api_.list.pfnAppendMemoryCopy(worlds_[place.context].immediate, seen.data(),
                                          pointer(place.address), place.size, nullptr, 0, nullptr),
            "live memory can be read");
  }
  for (std::size_t index = 0; index < place.size; ++index) {
    require(!place.content->known[place.offset + index] ||
                seen[index] == place.content->bytes[place.offset + index],
            "each byte is where it was written, and as it was written");
  }
}

void ApiProgram::use_event() {
  const std::size_t context = draw_context();
  World& world = worlds_[context];
  const auto which = static_cast<std::uint32_t>(input_.below(world.events.size()));
  ze_event_handle_t& event = world.events[which];
  if (event == nullptr) {
    const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, which, 0, 0};
    succeed(api_.event.pfnCreate(world.pool, &desc, &event), "an event can be had");
    world.signalled[which] = false;
  }
  switch (input_.below(6)) {
  case 0:
    succeed(api_.event.pfnHostSignal(event), "an event can be signalled");
    world.signalled[which] = true;
    break;
  case 1:
    succeed(api_.event.pfnHostReset(event), "an event can be reset");
    world.signalled[which] = false;
    break;
  case 2:
    succeed(api_.list.pfnAppendSignalEvent(world.immediate, event), "a board can signal an event");
    world.signalled[which] = true;
    break;
  case 3:
    succeed(api_.list.pfnAppendEventReset(world.immediate, event), "a board can reset an event");
    world.signalled[which] = false;
    break;
  case 4:
    succeed(api_.event.pfnDestroy(event), "an event can be destroyed");
    event = nullptr;
    return;
  default:
    if (world.signalled[which]) {
      succeed(api_.list.pfnAppendWaitOnEvents(world.immediate, 1, &event), "a board need not wait");
    }
  }
  const ze_result_t expected = world.signalled[which] ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
  require(api_.event.pfnQueryStatus(event) == expected, "an event is signalled while it is");
  require(api_.event.pfnHostSynchronize(event, 0) == expected, "who waits for an event sees the same");
}

}  // namespace datum::test
