// The DRAM behind the board for benches: keeps the bytes and checks every rule of time by its own account of
// the commands.
#pragma once

#include <array>
#include <cstdint>
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

class DramDevice {
 public:
  static constexpr unsigned banks = 16;

  explicit DramDevice(SparseMemory& memory) : memory_(memory) {}

  /// What one cycle brings, in order of cycles; `data` and `strobe` belong to a column write.
  void cycle(const DramCommands& commands, const DramWord& data, std::uint64_t strobe);

  /// Read data of the cycle that comes next, if any is due then.
  [[nodiscard]] std::optional<DramWord> read_data() const;

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
  void column(const DramCommands& commands, const DramWord& data, std::uint64_t strobe);
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

  struct Pending {
    std::int64_t due;
    DramWord data;
  };

  std::vector<Pending> pending_;
  std::uint64_t columns_ = 0;
  std::vector<std::string> broken_;
};

/// Device address of a column, by the mapping of the board contract.
[[nodiscard]] std::uint64_t dram_address(std::uint32_t row, unsigned bank, unsigned column);

}  // namespace datum::rtl_test
