#include "tools/datum/register_values.hpp"

#include <algorithm>
#include <charconv>
#include <strings.h>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

namespace datum::tool {

namespace {

constexpr const char* ones_remark = "all ones: no answer, or not there";

std::string code_list(std::string_view codes) {
  std::string list;
  for (const hw::CodeInfo& code : hw::code_table) {
    if (code.codes == codes) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", code.name);
    }
  }
  return list;
}

std::string fields_text(const RegisterValue& value) {
  if (const std::string_view codes = codes_of(*value.place.info); !codes.empty()) {
    const auto name = code_name(codes, value.value);
    return name ? std::string(*name) : "no such code";
  }
  std::string text;
  for (const hw::FieldInfo* field : fields_of(*value.place.info)) {
    const std::uint64_t part = field_of(*field, value.value);
    if (part != 0 || !field->codes.empty()) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", field->name, field_text(*field, value.value));
    }
  }
  return text;
}

}  // namespace

bool RegisterValue::all_ones() const noexcept {
  return value == (place.info->width_bits == 64 ? ~0ULL : std::uint64_t{~0U});
}

std::vector<RegisterValue> read_registers(OpenBoard& board, const std::vector<RegisterPlace>& places,
                                          const hw::FieldInfo* field) {
  std::vector<RegisterValue> values;
  for (const RegisterPlace& place : places) {
    if (place.readable()) {
      values.push_back({place, board.read(place.offset(), place.info->width_bits), field});
    }
  }
  return values;
}

bool any_all_ones(const std::vector<RegisterValue>& values) noexcept {
  return std::any_of(values.begin(), values.end(),
                     [](const RegisterValue& value) { return value.all_ones(); });
}

std::string hex_text(const RegisterValue& value) {
  return fmt::format("{:#0{}x}", value.value, value.place.info->width_bits / 4 + 2);
}

std::string field_text(const hw::FieldInfo& field, std::uint64_t value) {
  const std::uint64_t part = field_of(field, value);
  if (const auto name = code_name(field.codes, part)) {
    return std::string(*name);
  }
  return field.shift == 0 ? fmt::format("{}", part) : fmt::format("{:#x} ({})", part << field.shift, part);
}

std::string value_line(const RegisterValue& value) {
  if (value.field != nullptr && !value.all_ones()) {
    return fmt::format("{:<24} {}", fmt::format("{}.{}", value.place.name(), value.field->name),
                       field_text(*value.field, value.value));
  }
  const std::string remark = value.all_ones() ? ones_remark : fields_text(value);
  const std::string line = fmt::format("{:<24} {}", value.place.name(), hex_text(value));
  return remark.empty() ? line : fmt::format("{:<44} {}", line, remark);
}

nlohmann::ordered_json to_json(const RegisterValue& value) {
  const hw::RegisterInfo& info = *value.place.info;
  nlohmann::ordered_json object = {{"name", info.name}};
  if (info.stride_bytes != 0) {
    object["index"] = value.place.index;
  }
  object["offset"] = value.place.offset();
  object["width_bits"] = info.width_bits;
  object["value"] = hex_text(value);
  object["all_ones"] = value.all_ones();
  if (const std::string_view codes = codes_of(info); !codes.empty()) {
    if (const auto name = code_name(codes, value.value)) {
      object["code"] = *name;
    }
  }
  for (const hw::FieldInfo* field : fields_of(info)) {
    const std::uint64_t part = field_of(*field, value.value);
    if (const auto name = code_name(field->codes, part)) {
      object["fields"][std::string(field->name)] = *name;
    } else {
      object["fields"][std::string(field->name)] = part;
    }
  }
  return object;
}

Result<std::uint64_t> parse_value(std::string_view text, unsigned width_bits, std::string_view codes) {
  for (const hw::CodeInfo& code : hw::code_table) {
    if (code.codes == codes && !codes.empty() && code.name.size() == text.size() &&
        ::strncasecmp(code.name.data(), text.data(), text.size()) == 0) {
      return std::uint64_t{code.number};
    }
  }
  std::string_view digits = text;
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0b")) {
    base = digits[1] == 'x' ? 16 : 2;
    digits.remove_prefix(2);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error == std::errc::result_out_of_range ||
      (width_bits < 64 && error == std::errc{} && number >> width_bits != 0)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} does not fit {} bits", shown_text(text), width_bits));
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return make_error(ErrorCode::invalid_argument, fmt::format("'{}' is not a number", shown_text(text)),
                      codes.empty() ? "write 26, 0x1a or 0b11010" : "or one of " + code_list(codes));
  }
  return number;
}

}  // namespace datum::tool
