// Errors inside Datum: a code that maps to exactly one ze_result_t, the errno where there was one, a sentence
// and a hint.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace datum {

/// One enumerator for each result of the Level Zero specification that Datum produces (driver/api maps them
/// one to one).
enum class ErrorCode : std::uint8_t {
  not_ready,
  device_lost,
  out_of_host_memory,
  out_of_device_memory,
  insufficient_permissions,
  not_available,
  dependency_unavailable,
  uninitialized,
  unsupported_version,
  unsupported_feature,
  invalid_argument,
  invalid_null_handle,
  handle_object_in_use,
  invalid_null_pointer,
  invalid_size,
  unsupported_size,
  unsupported_alignment,
  invalid_synchronization_object,
  invalid_enumeration,
  unsupported_enumeration,
  invalid_command_list_type,
  overlapping_regions,
  address_not_found,
  unknown,
};

/// `message` says what was wrong with the value and the limit; `hint` says what to do (may be empty).
struct Error {
  ErrorCode code = ErrorCode::unknown;
  int errno_value = 0;
  std::string message;
  std::string hint;
};

[[nodiscard]] inline Error make_error(ErrorCode code, std::string message, std::string hint = {}) {
  return Error{code, 0, std::move(message), std::move(hint)};
}

/// A value or an Error. Never empty; reading the wrong side is a programming error (std::get throws, which
/// ends the process).
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)

  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }

  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }

  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }

  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }

  [[nodiscard]] T& operator*() & { return value(); }

  [[nodiscard]] const T& operator*() const& { return value(); }

  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }

  [[nodiscard]] T* operator->() { return &value(); }

  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }

  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;

  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }

  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }

  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<std::monostate, Error> state_;
};

using Status = Result<void>;

}  // namespace datum
