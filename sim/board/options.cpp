#include "sim/board/options.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/shown_text.hpp>

#include "sim/board/design_library.hpp"
#include "sim/board/option_item.hpp"

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

Status take_memory(const OptionItem& item, BoardOptions& options) {
  const auto value = parse_size(item.value);
  if (!value || !is_power_of_two(*value) || *value < smallest_memory_bytes || *value > largest_memory_bytes) {
    return size_refusal(item, "needs a power of two from 16M to 64G");
  }
  options.memory_bytes = *value;
  return {};
}

/// Parts of the aperture; that they fit into the memory is checked when all options are known.
Status take_aperture(const OptionItem& item, std::uint64_t smallest_bytes, std::uint64_t& to) {
  const auto value = parse_size(item.value);
  if (!value || *value < smallest_bytes || *value > largest_memory_bytes ||
      !is_aligned(*value, small_page_bytes)) {
    return size_refusal(item, fmt::format("needs a multiple of 4K from {}K up to the size of the memory",
                                          smallest_bytes / kib));
  }
  to = *value;
  return {};
}

Status take_flag(const OptionItem& item, bool& to) {
  if (item.has_value) {
    return refusal(item, "takes no value");
  }
  to = true;
  return {};
}

Status take_design(const OptionItem& item, Origin origin, std::string& to) {
  if (origin == Origin::design) {
    return refusal(item, "a design cannot name another one");
  }
  if (item.value.empty()) {
    return refusal(item, "needs the name of a design, or the file of its library");
  }
  to = std::string(item.value);
  return {};
}

Status take_iommu_bits(const OptionItem& item, BoardOptions& options) {
  std::uint64_t bits = 0;
  auto status = take_number(item, 39, 48, bits);
  if (!status || (bits != 39 && bits != 48)) {
    return refusal(item, "needs 39 or 48, the widths of an IOVA");
  }
  options.iommu_bits = static_cast<unsigned>(bits);
  return {};
}

Status take_locked(const OptionItem& item, BoardOptions& options) {
  const auto value = parse_size(item.value);
  if (!value || *value < small_page_bytes) {
    return size_refusal(item, "needs a size of at least 4K, the memory that may be mapped at once");
  }
  options.max_locked_bytes = *value;
  return {};
}

bool only_for_rtl(std::string_view name) {
  constexpr std::array names{std::string_view{"coverage"}, std::string_view{"instrumented"},
                             std::string_view{"design"}};
  return is_waveform_option(name) || std::ranges::find(names, name) != names.end();
}

Status take_item(const OptionItem& item, Origin origin, BoardOptions& options, Named& named) {
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
  if (is_waveform_option(item.name)) {
    return take_waveform_option(item, options.waveform);
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
      "seed, step, transactions, wave and those that begin with wave_, coverage, instrumented, design, "
      "iommu_bits, mappings, locked");
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
    const OptionItem item = option_item_of(list.substr(at, end - at));
    if (at == end) {
      return refuse_comma(list);
    }
    const std::string_view name = item.name == waveform_file_alias ? waveform_file_option : item.name;
    if (std::ranges::find(before, name) != before.end()) {
      return refusal(item, "the option is named twice", "name it once");
    }
    if (auto status = take_item(item, origin, options, named); !status) {
      return status;
    }
    before.push_back(name);
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
  if (auto status = check_waveform(options.waveform); !status) {
    return std::move(status).error();
  }
  options.instrumented =
      options.instrumented || !options.waveform.file.empty() || !options.coverage_file.empty();
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
                    "'wave' need",
                    (*design)->name),
        "build it with datum_add_board(... INSTRUMENTED)");
  }
  whole->name = (*design)->name;
  whole->vendor_id = (*design)->vendor_id;
  whole->device_id = (*design)->device_id;
  return whole;
}

}  // namespace datum::sim
