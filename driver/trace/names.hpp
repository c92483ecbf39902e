// Names of threads and boards in a timeline. They outlive the events that may be overwritten.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace datum::trace {

class Names {
 public:
  static constexpr std::size_t most_threads = 1024;  ///< later ones have numbers only
  static constexpr std::size_t most_boards = 64;
  static constexpr std::size_t name_bytes = 120;  ///< longer ones are cut

  struct Name {
    std::atomic<std::uint32_t> number{0};  ///< of a thread; 0: not there yet. Of a board: its number + 1
    std::array<char, name_bytes> text{};
  };

  /// Any thread, wait-free.
  void add_thread(std::uint32_t thread, std::string_view name) noexcept;
  /// The board's number; those after the last there is room for share its number.
  std::uint8_t add_board(std::string_view address) noexcept;
  /// Not while anybody adds.
  void clear() noexcept;

  [[nodiscard]] const std::array<Name, most_threads>& threads() const noexcept { return threads_; }

  [[nodiscard]] const std::array<Name, most_boards>& boards() const noexcept { return boards_; }

 private:
  std::array<Name, most_threads> threads_{};
  std::array<Name, most_boards> boards_{};
  std::atomic<std::uint32_t> thread_count_{0};
  std::atomic<std::uint32_t> board_count_{0};
};

}  // namespace datum::trace
