#include "sim/board/transaction_log.hpp"

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/private_fd.hpp>

namespace datum::sim {

Result<std::unique_ptr<TransactionLog>> TransactionLog::create(const std::string& file) {
  UniqueFd opened{
      private_fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666))};
  if (!opened.valid()) {
    const int number = errno;
    return Error{ErrorCode::invalid_argument, number,
                 fmt::format("board option 'transactions={}': the file cannot be written: {}", file,
                             std::strerror(number)),
                 "docs/simulation.md lists the options"};
  }
  return std::unique_ptr<TransactionLog>(new TransactionLog(std::move(opened)));
}

void TransactionLog::add(const char* kind, std::uint64_t cycle, std::uint64_t address, std::uint64_t extent,
                         std::uint64_t hash) noexcept {
  std::array<char, 160> line{};
  const int length =
      std::snprintf(line.data(), line.size(), "%" PRIu64 " %s %#" PRIx64 " %#" PRIx64 " %016" PRIx64 "\n",
                    cycle, kind, address, extent, hash);
  // A full disk shows as a line that is missing; the board goes on.
  [[maybe_unused]] const auto written = ::write(file_.get(), line.data(), static_cast<std::size_t>(length));
}

}  // namespace datum::sim
