// Registers by the names that the one description gives them: "MAGIC", "RING_STATE[3]",
// "WINDOW_BASE.ordinal", "PERF_*".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <datum/base/result.hpp>
#include <datum/hw/register_details.hpp>
#include <datum/hw/registers.hpp>

namespace datum::tool {

/// One register of a board.
struct RegisterPlace {
  const hw::RegisterInfo* info = nullptr;  ///< into register_table
  std::uint32_t index = 0;                 ///< of a repeated one

  [[nodiscard]] std::uint64_t offset() const noexcept {
    return info->offset + std::uint64_t{index} * info->stride_bytes;
  }

  /// "RING_STATE[3]"; without brackets where the register does not repeat.
  [[nodiscard]] std::string name() const;

  [[nodiscard]] bool readable() const noexcept { return info->access != hw::Access::wo; }

  [[nodiscard]] bool writable() const noexcept { return info->access != hw::Access::ro; }
};

/// What a word of the command line names.
struct RegisterSelection {
  std::vector<RegisterPlace> places;     ///< in the order of the description; never empty
  const hw::FieldInfo* field = nullptr;  ///< the one field that is meant
};

/// Upper and lower case alike. A name may hold '*' and '?'. A repeated register without an index is all of
/// its instances; "[2]" is one, "[0-3]" several. invalid_argument: there is no such register, instance or
/// field, with names that come near.
[[nodiscard]] Result<RegisterSelection> find_registers(std::string_view text);

[[nodiscard]] std::string_view access_text(hw::Access access) noexcept;
[[nodiscard]] std::string_view description_of(const hw::RegisterInfo& info) noexcept;
/// Named fields, in the order of the description.
[[nodiscard]] std::vector<const hw::FieldInfo*> fields_of(const hw::RegisterInfo& info);
/// The name of a code; nullopt: `number` is none of `codes`, or there are no such codes.
[[nodiscard]] std::optional<std::string_view> code_name(std::string_view codes,
                                                        std::uint64_t number) noexcept;
/// Codes that the whole register holds; empty: it holds none.
[[nodiscard]] std::string_view codes_of(const hw::RegisterInfo& info) noexcept;

[[nodiscard]] constexpr std::uint64_t field_mask(const hw::FieldInfo& field) noexcept {
  return (field.width_bits >= 64 ? ~0ULL : (1ULL << field.width_bits) - 1) << field.low_bit;
}

[[nodiscard]] constexpr std::uint64_t field_of(const hw::FieldInfo& field, std::uint64_t value) noexcept {
  return (value & field_mask(field)) >> field.low_bit;
}

}  // namespace datum::tool
