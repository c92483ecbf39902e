// The DRAM behind the board for benches: keeps the bytes and checks every rule of time by its own account of
// the commands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/rtl/sparse_memory.hpp"

namespace datum::rtl_test {

/// Rules in memory clocks of DDR4-2400 (four a controller cycle), as the data sheet has them; a column
/// command holds the bus four clocks.
struct DramClocks {
  static constexpr unsigned per_cycle = 4;
  unsigned cl = 17, cwl = 12, rcd = 17, rp = 17, ras = 39, rrd_s = 4, rrd_l = 6, faw = 26, ccd_s = 4,
           ccd_l = 6;
  unsigned wtr_l = 9, wr = 18, rtp = 9, refi = 9360, rfc = 420;
  unsigned burst = 4;
  unsigned postponed_refreshes = 8;
};

/// The signals of one cycle.
struct DramCommands {
  bool activate = false;
  unsigned activate_bank = 0;
  std::uint32_t activate_row = 0;
  bool precharge = false;
  bool precharge_all = false;
  unsigned precharge_bank = 0;
  bool refresh = false;
  bool column = false;
  bool column_write = false;
  unsigned column_bank = 0;
  unsigned column_address = 0;
};

using DramWord = std::array<std::uint32_t, 16>;

/// A column on the data bus: eight words of 64 bits, each with a byte of check bits.
struct DramColumn {
  DramWord data{};
  std::uint64_t check = 0;
  unsigned lanes = 0xff;  // words of a write
};

class DramDevice {
 public:
  static constexpr unsigned banks = 16;

  explicit DramDevice(SparseMemory& memory) : memory_(memory) {}

  /// What one cycle brings, in order of cycles; `written` belongs to a column write.
  void cycle(const DramCommands& commands, const DramColumn& written);

  /// Read data of the cycle that comes next, if any is due then.
  [[nodiscard]] std::optional<DramColumn> read_data() const;

  /// Bits of the word of 8 bytes at `address` that a read finds turned.
  void turn_bits(std::uint64_t address, std::uint64_t data, std::uint8_t check) {
    turned_[address] = {data, check};
  }

  /// Whether what the cells hold and their check bits fit, for this word.
  [[nodiscard]] bool is_right(std::uint64_t address) const { return !turned_.contains(address); }

  /// Rules that were broken, one line each.
  [[nodiscard]] const std::vector<std::string>& broken_rules() const noexcept { return broken_; }

  [[nodiscard]] std::uint64_t columns() const noexcept { return columns_; }

 private:
  struct Bank {
    std::optional<std::uint32_t> row;
    std::int64_t activated = long_ago;
    std::int64_t precharged = long_ago;
    std::int64_t read = long_ago;
    std::int64_t written = long_ago;
  };

  static constexpr std::int64_t long_ago = -1'000'000;

  void activate(unsigned bank, std::uint32_t row);
  void precharge(unsigned bank);
  void refresh();
  void column(const DramCommands& commands, const DramColumn& written);
  void write_words(std::uint64_t address, std::byte* cells, const DramColumn& written);
  [[nodiscard]] DramColumn read_words(std::uint64_t address, const std::byte* cells) const;
  void expect(bool holds, const char* rule);
  /// At least `clocks` memory clocks since cycle `since`.
  void expect_after(std::int64_t since, unsigned clocks, const char* rule);

  SparseMemory& memory_;
  DramClocks clocks_;
  std::array<Bank, banks> banks_;
  std::int64_t now_ = 0;
  std::vector<std::pair<std::int64_t, unsigned>> activates_;  // cycle and bank, the last four
  std::int64_t last_read_ = long_ago;
  std::int64_t last_write_ = long_ago;
  std::array<std::int64_t, 4> last_of_group_{long_ago, long_ago, long_ago, long_ago};
  std::int64_t last_refresh_ = long_ago;
  std::int64_t refreshes_ = 0;

  struct Turned {
    std::uint64_t data;
    std::uint8_t check;
  };

  struct Pending {
    std::int64_t due;
    DramColumn data;
  };

  std::map<std::uint64_t, Turned> turned_;  // by address of a word of 8 bytes

  std::vector<Pending> pending_;
  std::uint64_t columns_ = 0;
  std::vector<std::string> broken_;
};

/// Check bits of a word, by definition: the sum of the columns of its ones.
[[nodiscard]] std::uint8_t check_bits(std::uint64_t word);

/// Device address of a column, by the mapping of the board contract.
[[nodiscard]] std::uint64_t dram_address(std::uint32_t row, unsigned bank, unsigned column);

}  // namespace datum::rtl_test
