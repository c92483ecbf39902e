// A file with a line for each bus transaction of a board, so that two runs can be compared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

namespace datum::sim {

/// Each line goes to the file at once: a program that crashes, or never closes its board, loses none. Under
/// the board's turn.
class TransactionLog {
 public:
  /// invalid_argument: the file cannot be written.
  static Result<std::unique_ptr<TransactionLog>> create(const std::string& file);

  /// `extent` is a number of bytes, or a register's value; `hash` is that of everything so far.
  void add(const char* kind, std::uint64_t cycle, std::uint64_t address, std::uint64_t extent,
           std::uint64_t hash) noexcept;

 private:
  explicit TransactionLog(UniqueFd file) noexcept : file_(std::move(file)) {}

  UniqueFd file_;
};

}  // namespace datum::sim
