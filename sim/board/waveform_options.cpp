#include "sim/board/waveform_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>
#include <datum/hw/registers.hpp>

namespace datum::sim {

namespace {

constexpr std::uint64_t most_cycles = 1'000'000'000'000;
constexpr std::uint64_t fewest_last_cycles = 100;
constexpr std::uint64_t smallest_waveform_bytes = 1ULL << 20U;
constexpr std::uint64_t largest_waveform_bytes = 1ULL << 40U;
constexpr std::uint64_t most_windows = 1000;

bool same_letters(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  });
}

WaveformTrigger trigger_of_kind(WaveformTrigger::Kind kind) {
  WaveformTrigger trigger;
  trigger.kind = kind;
  return trigger;
}

/// Pieces between '+'.
std::vector<std::string_view> pieces_of_value(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (bool more = true; more;) {
    const auto plus = text.find('+');
    pieces.push_back(text.substr(0, plus));
    more = plus != std::string_view::npos;
    text.remove_prefix(more ? plus + 1 : text.size());
  }
  return pieces;
}

/// "RESET", "RING_TAIL[3]", or an offset, which own registers of a design have only.
std::optional<std::uint32_t> register_offset(std::string_view text) {
  if (const auto number = parse_number(text)) {
    const bool fits = *number < hw::bar0_bytes && *number % sizeof(std::uint32_t) == 0;
    return fits ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
  }
  std::uint64_t index = 0;
  const auto bracket = text.find('[');
  if (bracket != std::string_view::npos) {
    std::string_view rest;
    const auto number = parse_number(text.substr(bracket + 1), &rest);
    if (!number || rest != "]") {
      return std::nullopt;
    }
    index = *number;
  }
  for (const hw::RegisterInfo& info : hw::register_table) {
    if (same_letters(info.name, text.substr(0, bracket)) && index < info.count) {
      return static_cast<std::uint32_t>(info.offset + index * info.stride_bytes);
    }
  }
  return std::nullopt;
}

Result<WaveformTrigger> write_trigger(const OptionItem& item, std::string_view text) {
  WaveformTrigger trigger = trigger_of_kind(WaveformTrigger::Kind::register_write);
  const auto equals = text.find('=');
  const auto offset = register_offset(text.substr(0, equals));
  if (!offset) {
    return refusal(item,
                   fmt::format("'{}' is no register, and no offset below {:#x}",
                               shown_text(text.substr(0, equals)), hw::bar0_bytes),
                   "docs/registers.md lists them; one of several is RING_TAIL[3]");
  }
  trigger.offset = *offset;
  if (equals != std::string_view::npos) {
    trigger.value = parse_number(text.substr(equals + 1));
    if (!trigger.value) {
      return refusal(item, fmt::format("'{}' is no number of 64 bits", shown_text(text.substr(equals + 1))));
    }
  }
  return trigger;
}

Result<WaveformTrigger> descriptor_trigger(const OptionItem& item, std::string_view text) {
  const auto at = text.find('@');
  const auto number = parse_number(text.substr(0, at));
  WaveformTrigger trigger = trigger_of_kind(WaveformTrigger::Kind::descriptor);
  if (at != std::string_view::npos) {
    const auto wanted = parse_number(text.substr(at + 1));
    if (!wanted || *wanted >= hw::ring_page_block_count) {
      return refusal(item, fmt::format("'{}' is no ring from 0 to {}", shown_text(text.substr(at + 1)),
                                       hw::ring_page_block_count - 1));
    }
    trigger.ring = static_cast<unsigned>(*wanted);
  }
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) {
    return refusal(item, fmt::format("'{}' is no sequence number of 32 bits", shown_text(text.substr(0, at))),
                   "write descriptor:17, or descriptor:17@3 for one of ring 3 alone");
  }
  trigger.number = static_cast<std::uint32_t>(*number);
  return trigger;
}

Result<WaveformTrigger> trigger_of(const OptionItem& item, std::string_view text) {
  const auto colon = text.find(':');
  const auto kind = text.substr(0, colon);
  const auto rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (kind == "write") {
    return write_trigger(item, rest);
  }
  if (kind == "descriptor") {
    return descriptor_trigger(item, rest);
  }
  if (text == "fault") {
    return trigger_of_kind(WaveformTrigger::Kind::fault);
  }
  if (text == "watchdog") {
    return trigger_of_kind(WaveformTrigger::Kind::watchdog);
  }
  if (text == "assertion") {
    return trigger_of_kind(WaveformTrigger::Kind::assertion);
  }
  return refusal(item,
                 fmt::format("'{}' is no trigger; there are write:REGISTER, write:REGISTER=VALUE, "
                             "descriptor:NUMBER, descriptor:NUMBER@RING, fault, watchdog, assertion",
                             shown_text(text)),
                 "write one, or several with '+' between them");
}

Status take_triggers(const OptionItem& item, std::vector<WaveformTrigger>& to) {
  to.clear();
  for (const std::string_view piece : pieces_of_value(item.value)) {
    auto trigger = trigger_of(item, piece);
    if (!trigger) {
      return std::move(trigger).error();
    }
    to.push_back(*trigger);
  }
  return {};
}

Status take_scopes(const OptionItem& item, std::vector<std::string>& to) {
  to.clear();
  for (const std::string_view piece : pieces_of_value(item.value)) {
    if (piece.empty()) {
      return refusal(item, "needs names of modules' instances, with '+' between them",
                     "write wave_scope=u_mmu, or wave_scope=u_dma+u_mmu");
    }
    to.emplace_back(piece);
  }
  return {};
}

Status take_cycles(const OptionItem& item, std::uint64_t first, std::optional<std::uint64_t>& to) {
  std::uint64_t value = 0;
  auto status = take_number(item, first, most_cycles, value);
  if (status) {
    to = value;
  }
  return status;
}

Status take_windows(const OptionItem& item, std::optional<std::uint64_t>& to) {
  std::uint64_t value = 0;
  auto status = take_number(item, 1, most_windows, value);
  if (status) {
    to = value;
  }
  return status;
}

/// One cycle, or those of several windows.
Status take_cycle_list(const OptionItem& item, std::vector<std::uint64_t>& to) {
  to.clear();
  for (const std::string_view piece : pieces_of_value(item.value)) {
    OptionItem one = item;
    one.value = piece;
    std::uint64_t value = 0;
    if (Status status = take_number(one, 0, most_cycles, value); !status) {
      return status;
    }
    to.push_back(value);
  }
  if (to.size() > most_windows) {
    return refusal(item, fmt::format("names {} windows, and there are at most {}", to.size(), most_windows));
  }
  return {};
}

Status take_size(const OptionItem& item, std::optional<std::uint64_t>& to) {
  const auto value = parse_size(item.value);
  if (!value || *value < smallest_waveform_bytes || *value > largest_waveform_bytes) {
    return size_refusal(item, "needs a size from 1M to 1024G");
  }
  to = *value;
  return {};
}

Error contradiction(std::string_view sentence, std::string hint) {
  return make_error(ErrorCode::invalid_argument, fmt::format("board options of the waveform: {}", sentence),
                    std::move(hint));
}

bool is_by_time(const WaveformOptions& options) {
  return !options.from_cycles.empty() || !options.to_cycles.empty();
}

bool names_more_than_a_file(const WaveformOptions& options) {
  return !options.scopes.empty() || is_by_time(options) || !options.triggers.empty() || options.windows ||
         options.last_cycles || options.next_cycles || options.size_bytes;
}

/// Each window has both ends, unless there is but one, and begins behind the one before.
Status check_windows_by_time(const WaveformOptions& options) {
  const auto& from = options.from_cycles;
  const auto& to = options.to_cycles;
  if (std::max(from.size(), to.size()) > 1 && from.size() != to.size()) {
    return contradiction(fmt::format("wave_from names {} windows and wave_to {}", from.size(), to.size()),
                         "name the first and the last cycle of each: wave_from=100+5000,wave_to=200+5100");
  }
  for (std::size_t window = 0; window < std::min(from.size(), to.size()); ++window) {
    if (from[window] > to[window]) {
      return contradiction(fmt::format("wave_from={} comes after wave_to={}", from[window], to[window]),
                           "wave_to is the last cycle of the window");
    }
    if (window > 0 && from[window] <= to[window - 1]) {
      return contradiction(fmt::format("the window from {} begins before the one to {} has ended",
                                       from[window], to[window - 1]),
                           "name them in their order, none inside another");
    }
  }
  return {};
}

bool ends_with_the_board(const WaveformOptions& options) {
  return std::ranges::any_of(options.triggers, [](const WaveformTrigger& trigger) {
    return trigger.kind == WaveformTrigger::Kind::assertion;
  });
}

}  // namespace

std::uint64_t windows_of(const WaveformOptions& options) noexcept {
  return std::max<std::uint64_t>(options.windows.value_or(1), options.from_cycles.size());
}

bool is_waveform_option(std::string_view name) noexcept {
  constexpr std::array names{waveform_file_option,          waveform_file_alias,
                             std::string_view{"wave_from"}, std::string_view{"wave_to"},
                             std::string_view{"wave_on"},   std::string_view{"wave_last"},
                             std::string_view{"wave_next"}, std::string_view{"wave_scope"},
                             std::string_view{"wave_size"}, std::string_view{"wave_windows"}};
  return std::ranges::find(names, name) != names.end();
}

Status take_waveform_option(const OptionItem& item, WaveformOptions& options) {
  if (item.name == "wave_from") {
    return take_cycle_list(item, options.from_cycles);
  }
  if (item.name == "wave_to") {
    return take_cycle_list(item, options.to_cycles);
  }
  if (item.name == "wave_on") {
    return take_triggers(item, options.triggers);
  }
  if (item.name == "wave_last") {
    return take_cycles(item, fewest_last_cycles, options.last_cycles);
  }
  if (item.name == "wave_next") {
    return take_cycles(item, 1, options.next_cycles);
  }
  if (item.name == "wave_windows") {
    return take_windows(item, options.windows);
  }
  if (item.name == "wave_scope") {
    return take_scopes(item, options.scopes);
  }
  if (item.name == "wave_size") {
    return take_size(item, options.size_bytes);
  }
  return take_file(item, options.file);
}

Status check_waveform(WaveformOptions& options) {
  if (options.file.empty()) {
    return names_more_than_a_file(options)
               ? Status{contradiction("they say what to record, and none says in which file",
                                      "add wave=FILE")}
               : Status{};
  }
  if (is_by_time(options) &&
      (!options.triggers.empty() || options.last_cycles || options.next_cycles || options.windows)) {
    return contradiction("a window is chosen by time (wave_from, wave_to) or by what happens (wave_on, "
                         "wave_last, wave_next, wave_windows), and both are named",
                         "leave one of them out");
  }
  if (Status status = check_windows_by_time(options); !status) {
    return status;
  }
  if (options.next_cycles && options.triggers.empty() && !options.last_cycles) {
    return contradiction(
        fmt::format("wave_next={} counts from a trigger, and there is none", *options.next_cycles),
        "add wave_on=TRIGGER, or say wave_to=CYCLE");
  }
  if (options.windows && options.triggers.empty() && !options.last_cycles) {
    return contradiction(
        fmt::format("wave_windows={} counts triggers, and there is none", *options.windows),
        "add wave_on=TRIGGER, or name several windows by time: wave_from=100+5000,wave_to=200+5100");
  }
  if (options.windows.value_or(1) > 1 && !options.last_cycles && !options.next_cycles) {
    return contradiction(
        fmt::format("wave_windows={} has no second one: the first never ends", *options.windows),
        "add wave_next=CYCLES, which is how long each is");
  }
  if (const std::uint64_t share = options.size_bytes.value_or(default_waveform_bytes) / windows_of(options);
      share < smallest_waveform_bytes) {
    return contradiction(fmt::format("wave_size={} is shared by {} windows, and each needs at least 1M",
                                     *options.size_bytes, windows_of(options)),
                         "ask for fewer windows, or for more room");
  }
  if (ends_with_the_board(options) && !options.last_cycles) {
    return contradiction("wave_on=assertion leaves nothing to record: the board is lost then",
                         "add wave_last=CYCLES, for those that lead there");
  }
  if (options.last_cycles) {
    if (options.triggers.empty()) {
      options.triggers = {trigger_of_kind(WaveformTrigger::Kind::fault),
                          trigger_of_kind(WaveformTrigger::Kind::watchdog)};
    }
    options.next_cycles = options.next_cycles.value_or(default_next_cycles);
  }
  return {};
}

}  // namespace datum::sim
