#include "tools/datum/register_writes.hpp"

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

#include "tools/datum/register_values.hpp"

namespace datum::tool {

Result<RegisterWrite> parse_write(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return make_error(ErrorCode::invalid_argument, fmt::format("'{}' names no value", shown_text(text)),
                      "write NAME=VALUE, as in SCRATCH=0x1234");
  }
  const Result<RegisterSelection> selection = find_registers(std::string_view(text).substr(0, equals));
  if (!selection) {
    return selection.error();
  }
  const RegisterPlace place = selection->places.front();
  if (selection->places.size() > 1) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' are {} registers; one is written at a time",
                                  shown_text(text.substr(0, equals)), selection->places.size()),
                      fmt::format("name one, as in {}", place.name()));
  }
  if (!place.writable()) {
    return make_error(ErrorCode::invalid_argument, fmt::format("{} is only read", place.name()));
  }
  const hw::FieldInfo* const field = selection->field;
  const Result<std::uint64_t> value =
      parse_value(std::string_view(text).substr(equals + 1),
                  field != nullptr ? field->width_bits : place.info->width_bits,
                  field != nullptr ? field->codes : codes_of(*place.info));
  if (!value) {
    return value.error();
  }
  return RegisterWrite{place, field, *value};
}

void carry_out(OpenBoard& board, const RegisterWrite& write) {
  const RegisterPlace& place = write.place;
  std::uint64_t value = write.value;
  if (write.field != nullptr) {
    const std::uint64_t others =
        place.info->access == hw::Access::rw ? board.read(place.offset(), place.info->width_bits) : 0;
    value = (others & ~field_mask(*write.field)) | (write.value << write.field->low_bit);
  }
  board.write(place.offset(), place.info->width_bits, value);
}

}  // namespace datum::tool
