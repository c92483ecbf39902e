#include "tools/datum/register_names.hpp"

#include <algorithm>
#include <charconv>
#include <fnmatch.h>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

namespace datum::tool {

namespace {

struct Indices {
  std::uint32_t first = 0;
  std::uint32_t last = ~0U;
  bool given = false;
};

struct NameParts {
  std::string name;   ///< upper case
  std::string field;  ///< lower case
  Indices indices;
};

std::string in_case(std::string_view text, int (*convert)(int)) {
  std::string converted(text);
  std::transform(converted.begin(), converted.end(), converted.begin(),
                 [&](unsigned char letter) { return static_cast<char>(convert(letter)); });
  return converted;
}

bool take_number(std::string_view& text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// "3" or "0-3".
std::optional<Indices> parse_indices(std::string_view text) {
  Indices indices;
  indices.given = true;
  if (!take_number(text, indices.first)) {
    return std::nullopt;
  }
  indices.last = indices.first;
  if (text.starts_with('-')) {
    text.remove_prefix(1);
    if (!take_number(text, indices.last)) {
      return std::nullopt;
    }
  }
  return text.empty() && indices.first <= indices.last ? std::optional(indices) : std::nullopt;
}

std::optional<NameParts> split(std::string_view text) {
  NameParts parts;
  const std::size_t bracket = text.find('[');
  const std::size_t closed = bracket == std::string_view::npos ? 0 : text.find(']', bracket);
  const std::size_t dot = closed == std::string_view::npos ? closed : text.find('.', closed);
  if (bracket != std::string_view::npos) {
    if (closed == std::string_view::npos || (closed + 1 != text.size() && closed + 1 != dot)) {
      return std::nullopt;
    }
    const auto indices = parse_indices(text.substr(bracket + 1, closed - bracket - 1));
    if (!indices) {
      return std::nullopt;
    }
    parts.indices = *indices;
  }
  parts.name = in_case(text.substr(0, std::min(bracket, dot)), ::toupper);
  if (dot != std::string_view::npos) {
    parts.field = in_case(text.substr(dot + 1), ::tolower);
  }
  return parts.name.empty() ? std::nullopt : std::optional(parts);
}

/// Registers whose name has a word of `name`, for who misremembered one.
std::string names_near(std::string_view name) {
  std::string near;
  unsigned count = 0;
  for (const hw::RegisterInfo& info : hw::register_table) {
    const std::string_view tail = info.name.substr(info.name.rfind('_') + 1);
    const bool resembles = info.name.find(name) != std::string_view::npos ||
                           name.find(info.name) != std::string_view::npos ||
                           (name.size() > 3 && tail.size() > 3 && name.find(tail) != std::string_view::npos);
    if (resembles && ++count <= 6) {
      near += fmt::format("{}{}", near.empty() ? "" : ", ", info.name);
    }
  }
  return near.empty() ? "'datum regs list' has all names" : "near it: " + near;
}

Error no_such(std::string sentence, std::string hint) {
  return make_error(ErrorCode::invalid_argument, std::move(sentence), std::move(hint));
}

Result<const hw::FieldInfo*> find_field(const RegisterSelection& selection, const std::string& field) {
  const hw::RegisterInfo& info = *selection.places.front().info;
  std::string known;
  for (const hw::FieldInfo* candidate : fields_of(info)) {
    if (candidate->name == field) {
      return candidate;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate->name);
  }
  return no_such(fmt::format("{} has no field '{}'", info.name, shown_text(field)),
                 known.empty() ? "it has no fields" : "its fields: " + known);
}

}  // namespace

std::string RegisterPlace::name() const {
  return info->stride_bytes == 0 ? std::string(info->name) : fmt::format("{}[{}]", info->name, index);
}

Result<RegisterSelection> find_registers(std::string_view text) {
  const std::optional<NameParts> parts = split(text);
  if (!parts) {
    return no_such(fmt::format("'{}' is not the name of a register", shown_text(text)),
                   "names are like MAGIC, RING_STATE[3], RING_STATE[0-3], WINDOW_BASE.ordinal, 'PERF_*'");
  }
  RegisterSelection selection;
  bool name_known = false;
  for (const hw::RegisterInfo& info : hw::register_table) {
    if (::fnmatch(parts->name.c_str(), std::string(info.name).c_str(), 0) != 0) {
      continue;
    }
    name_known = true;
    if (parts->indices.given && (info.stride_bytes == 0 || parts->indices.last >= info.count)) {
      return no_such(fmt::format("there is no {}", shown_text(text)),
                     info.stride_bytes == 0
                         ? fmt::format("{} does not repeat", info.name)
                         : fmt::format("{}[0] to {}[{}]", info.name, info.name, info.count - 1));
    }
    for (std::uint32_t index = parts->indices.first; index <= std::min(parts->indices.last, info.count - 1);
         ++index) {
      selection.places.push_back({&info, index});
    }
  }
  if (!name_known) {
    return no_such(fmt::format("there is no register '{}'", shown_text(text)), names_near(parts->name));
  }
  if (!parts->field.empty()) {
    const Result<const hw::FieldInfo*> field = find_field(selection, parts->field);
    if (!field) {
      return field.error();
    }
    selection.field = *field;
    std::erase_if(selection.places, [&](const RegisterPlace& place) {
      return place.info->name != selection.field->register_name;
    });
  }
  return selection;
}

std::string_view access_text(hw::Access access) noexcept {
  constexpr std::string_view words[] = {"ro", "rw", "wo", "w1c", "w1s"};
  return words[static_cast<std::size_t>(access)];
}

std::string_view description_of(const hw::RegisterInfo& info) noexcept {
  return hw::register_descriptions[static_cast<std::size_t>(&info - hw::register_table.data())];
}

std::vector<const hw::FieldInfo*> fields_of(const hw::RegisterInfo& info) {
  std::vector<const hw::FieldInfo*> fields;
  for (const hw::FieldInfo& field : hw::field_table) {
    if (field.register_name == info.name && !field.name.empty()) {
      fields.push_back(&field);
    }
  }
  return fields;
}

std::optional<std::string_view> code_name(std::string_view codes, std::uint64_t number) noexcept {
  for (const hw::CodeInfo& code : hw::code_table) {
    if (code.codes == codes && code.number == number) {
      return code.name;
    }
  }
  return std::nullopt;
}

std::string_view codes_of(const hw::RegisterInfo& info) noexcept {
  for (const hw::FieldInfo& field : hw::field_table) {
    if (field.register_name == info.name && field.name.empty()) {
      return field.codes;
    }
  }
  return {};
}

}  // namespace datum::tool
