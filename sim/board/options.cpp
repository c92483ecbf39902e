#include "sim/board/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/shown_text.hpp>

#include "sim/board/design_library.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t kib = 1ULL << 10U;
constexpr std::uint64_t mib = 1ULL << 20U;
constexpr std::uint64_t gib = 1ULL << 30U;
// What the driver needs at least; its own limits say why (driver/device/limits.hpp).
constexpr std::uint64_t smallest_memory_bytes = 16 * mib;
constexpr std::uint64_t smallest_aperture_bytes = mib;
constexpr std::uint64_t largest_memory_bytes = 64 * gib;

/// Where an option came from decides how strictly it is taken.
enum class Origin : std::uint8_t { defaults, design, address };

/// The options that the address or the defaults named, since sizes that were not named adapt to the memory.
struct Named {
  bool aperture = false;
  bool window = false;
};

struct Item {
  std::string_view name;
  std::string_view value;
  bool has_value = false;
};

Error refusal(const Item& item, std::string_view rule,
              std::string hint = "docs/simulation.md lists the options") {
  const auto shown =
      shown_text(item.has_value ? fmt::format("{}={}", item.name, item.value) : std::string(item.name));
  return make_error(ErrorCode::invalid_argument, fmt::format("board option '{}': {}", shown, rule),
                    std::move(hint));
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::string_view* rest = nullptr) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  const auto left = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest != nullptr) {
    *rest = left;
  } else if (!left.empty()) {
    return std::nullopt;
  }
  return value;
}

/// A number with an optional suffix K, M or G (powers of 1024).
std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::string_view suffix;
  const auto number = parse_number(text, &suffix);
  if (!number) {
    return std::nullopt;
  }
  std::uint64_t unit = 1;
  if (suffix == "K") {
    unit = kib;
  } else if (suffix == "M") {
    unit = mib;
  } else if (suffix == "G") {
    unit = gib;
  } else if (!suffix.empty()) {
    return std::nullopt;
  }
  if (*number > UINT64_MAX / unit) {
    return std::nullopt;
  }
  return *number * unit;
}

/// `text` as it would be a size, where only the suffix is not as it should be: 16m, 16MB and 16MiB mean 16M.
/// Empty where something else is wrong.
std::string meant_size(std::string_view text) {
  for (const std::string_view byte_word : {"iB", "ib", "IB", "B", "b", "i"}) {
    if (text.size() > byte_word.size() && text.ends_with(byte_word)) {
      text.remove_suffix(byte_word.size());
      break;
    }
  }
  std::string meant(text);
  constexpr std::string_view suffixes = "kmg";
  if (const auto at = meant.empty() ? suffixes.npos : suffixes.find(meant.back()); at != suffixes.npos) {
    meant.back() = "KMG"[at];
  }
  return parse_size(meant) ? meant : std::string{};
}

/// Of a size that was not taken.
Error size_refusal(const Item& item, std::string_view rule) {
  const std::string meant = parse_size(item.value) ? std::string{} : meant_size(item.value);
  return meant.empty()
             ? refusal(item, rule)
             : refusal(item, rule, fmt::format("the suffixes are K, M and G: {}={}", item.name, meant));
}

Status take_number(const Item& item, std::uint64_t first, std::uint64_t last, std::uint64_t& to) {
  const auto value = parse_number(item.value);
  if (!value || *value < first || *value > last) {
    return refusal(item, fmt::format("needs a number from {} to {}", first, last));
  }
  to = *value;
  return {};
}

Status take_unsigned(const Item& item, unsigned first, unsigned last, unsigned& to) {
  std::uint64_t value = 0;
  auto status = take_number(item, first, last, value);
  if (status) {
    to = static_cast<unsigned>(value);
  }
  return status;
}

Status take_memory(const Item& item, BoardOptions& options) {
  const auto value = parse_size(item.value);
  if (!value || !is_power_of_two(*value) || *value < smallest_memory_bytes || *value > largest_memory_bytes) {
    return size_refusal(item, "needs a power of two from 16M to 64G");
  }
  options.memory_bytes = *value;
  return {};
}

/// Parts of the aperture; that they fit into the memory is checked when all options are known.
Status take_aperture(const Item& item, std::uint64_t smallest_bytes, std::uint64_t& to) {
  const auto value = parse_size(item.value);
  if (!value || *value < smallest_bytes || *value > largest_memory_bytes ||
      !is_aligned(*value, small_page_bytes)) {
    return size_refusal(item, fmt::format("needs a multiple of 4K from {}K up to the size of the memory",
                                          smallest_bytes / kib));
  }
  to = *value;
  return {};
}

Status take_flag(const Item& item, bool& to) {
  if (item.has_value) {
    return refusal(item, "takes no value");
  }
  to = true;
  return {};
}

Status take_design(const Item& item, Origin origin, std::string& to) {
  if (origin == Origin::design) {
    return refusal(item, "a design cannot name another one");
  }
  if (item.value.empty()) {
    return refusal(item, "needs the name of a design, or the file of its library");
  }
  to = std::string(item.value);
  return {};
}

Status take_file(const Item& item, std::string& to) {
  if (item.value.empty()) {
    return refusal(item, "needs the name of a file");
  }
  to = std::string(item.value);
  return {};
}

Status take_iommu_bits(const Item& item, BoardOptions& options) {
  std::uint64_t bits = 0;
  auto status = take_number(item, 39, 48, bits);
  if (!status || (bits != 39 && bits != 48)) {
    return refusal(item, "needs 39 or 48, the widths of an IOVA");
  }
  options.iommu_bits = static_cast<unsigned>(bits);
  return {};
}

Status take_locked(const Item& item, BoardOptions& options) {
  const auto value = parse_size(item.value);
  if (!value || *value < small_page_bytes) {
    return size_refusal(item, "needs a size of at least 4K, the memory that may be mapped at once");
  }
  options.max_locked_bytes = *value;
  return {};
}

bool only_for_rtl(std::string_view name) {
  constexpr std::array names{std::string_view{"trace"}, std::string_view{"coverage"},
                             std::string_view{"instrumented"}, std::string_view{"design"}};
  return std::ranges::find(names, name) != names.end();
}

Status take_item(const Item& item, Origin origin, BoardOptions& options, Named& named) {
  if (only_for_rtl(item.name) && options.scheme != Scheme::rtl) {
    return origin == Origin::defaults ? Status{} : Status{refusal(item, "only rtl: boards have it")};
  }
  if (item.name == "memory") {
    return take_memory(item, options);
  }
  if (item.name == "aperture") {
    named.aperture = true;
    return take_aperture(item, smallest_aperture_bytes, options.aperture_bytes);
  }
  if (item.name == "window") {
    named.window = true;
    return take_aperture(item, small_page_bytes, options.window_bytes);
  }
  if (item.name == "channels") {
    return take_unsigned(item, 1, max_channels, options.channels);
  }
  if (item.name == "latency") {
    return take_unsigned(item, 0, 10000, options.host_latency_cycles);
  }
  if (item.name == "backpressure") {
    return take_unsigned(item, 0, 100, options.backpressure_percent);
  }
  if (item.name == "seed") {
    return take_number(item, 0, UINT64_MAX, options.seed);
  }
  if (item.name == "step") {
    return take_flag(item, options.step_locked);
  }
  if (item.name == "instrumented") {
    return take_flag(item, options.instrumented);
  }
  if (item.name == "trace") {
    return take_file(item, options.trace_file);
  }
  if (item.name == "coverage") {
    return take_file(item, options.coverage_file);
  }
  if (item.name == "transactions") {
    return take_file(item, options.transaction_file);
  }
  if (item.name == "design") {
    return take_design(item, origin, options.design);
  }
  if (item.name == "iommu_bits") {
    return take_iommu_bits(item, options);
  }
  if (item.name == "mappings") {
    return take_number(item, 1, UINT64_MAX, options.max_mappings);
  }
  if (item.name == "locked") {
    return take_locked(item, options);
  }
  return refusal(
      item,
      "there is no such option; the options are memory, aperture, window, channels, latency, backpressure, "
      "seed, step, transactions, trace, coverage, instrumented, design, iommu_bits, mappings, locked");
}

Item item_of(std::string_view text) {
  const auto equals = text.substr(0, text.find('=')).size();
  return {text.substr(0, equals), text.substr(std::min(equals + 1, text.size())), equals < text.size()};
}

Error refuse_comma(std::string_view list) {
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("the board options '{}' have an empty entry: there is a comma too many", shown_text(list)),
      "write one comma between options, and none at the end");
}

Status take_list(std::string_view list, Origin origin, BoardOptions& options, Named& named) {
  std::vector<std::string_view> before;
  for (std::size_t at = 0; !list.empty() && at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const Item item = item_of(list.substr(at, end - at));
    if (at == end) {
      return refuse_comma(list);
    }
    if (std::ranges::find(before, item.name) != before.end()) {
      return refusal(item, "the option is named twice", "name it once");
    }
    if (auto status = take_item(item, origin, options, named); !status) {
      return status;
    }
    before.push_back(item.name);
    at = end + 1;
  }
  return {};
}

/// Sizes that were not asked for shrink to the memory; those that were asked for are held to it.
Status fit_to_memory(BoardOptions& options, const Named& named) {
  const auto fit = [&](std::string_view name, std::uint64_t& bytes, bool asked) -> Status {
    if (bytes > options.memory_bytes && asked) {
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("board option '{}={}': it is larger than the memory, which has {} bytes",
                                    name, bytes, options.memory_bytes),
                        "docs/simulation.md lists the options");
    }
    bytes = std::min(bytes, options.memory_bytes);
    return {};
  };
  if (auto status = fit("aperture", options.aperture_bytes, named.aperture); !status) {
    return status;
  }
  return fit("window", options.window_bytes, named.window);
}

}  // namespace

Result<BoardOptions> parse_board_address(std::string_view address, std::string_view defaults,
                                         std::string_view of_design) {
  BoardOptions options;
  const auto colon = address.find(':');
  const auto scheme = address.substr(0, colon);
  if (scheme == "rtl") {
    options.scheme = Scheme::rtl;
  } else if (scheme != "model") {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("board address '{}': the simulation has the schemes rtl: and model:",
                                  shown_text(address)));
  }
  const auto list = colon == std::string_view::npos ? std::string_view{} : address.substr(colon + 1);

  Named named;
  if (auto status = take_list(defaults, Origin::defaults, options, named); !status) {
    auto error = std::move(status).error();
    error.message = "DATUM_SIM_OPTIONS: " + error.message;
    return error;
  }
  if (auto status = take_list(of_design, Origin::design, options, named); !status) {
    auto error = std::move(status).error();
    error.message = "the options of the design: " + error.message;
    return error;
  }
  if (auto status = take_list(list, Origin::address, options, named); !status) {
    return std::move(status).error();
  }
  if (auto status = fit_to_memory(options, named); !status) {
    return std::move(status).error();
  }
  options.instrumented =
      options.instrumented || !options.trace_file.empty() || !options.coverage_file.empty();
  return options;
}

Result<BoardOptions> options_of_address(std::string_view address) {
  const char* const variable = std::getenv("DATUM_SIM_OPTIONS");
  const std::string_view defaults = variable == nullptr ? std::string_view{} : std::string_view{variable};
  auto options = parse_board_address(address, defaults);
  if (!options || options->design.empty()) {
    return options;
  }
  const auto design = load_design(options->design);
  if (!design) {
    return design.error();
  }
  auto whole = parse_board_address(address, defaults, (*design)->options);
  if (!whole) {
    return whole;
  }
  if (whole->instrumented && (*design)->instrumented == 0) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the design {} was built without its instrumented model, which options such as "
                    "'trace' need",
                    (*design)->name),
        "build it with datum_add_board(... INSTRUMENTED)");
  }
  whole->name = (*design)->name;
  whole->vendor_id = (*design)->vendor_id;
  whole->device_id = (*design)->device_id;
  return whole;
}

}  // namespace datum::sim
