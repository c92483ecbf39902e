// The DRAM's timing as software programs it. The golden model has no timing: the registers only inform.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <datum/hw/registers.hpp>

namespace datum::sim {

class TimingRegisters {
 public:
  [[nodiscard]] std::uint32_t read(unsigned number) const noexcept { return values_[number]; }

  [[nodiscard]] std::uint32_t status() const noexcept {
    return hw::McTimingStatusRegister{}.set_refused(refused_).raw;
  }

  /// A value that leaves a bound is refused.
  void write(unsigned number, std::uint32_t value) noexcept {
    if (legal(number, value)) {
      values_[number] = number == 3 ? value & recovery_bits : value;
    } else {
      refused_ = true;
    }
  }

  void clear(std::uint32_t bits) noexcept {
    refused_ = refused_ && !hw::McTimingStatusRegister{bits}.refused();
  }

 private:
  static constexpr std::uint32_t recovery_bits = hw::McTiming3Register{}.set_t_wr(0xff).set_t_rtp(0xff).raw;

  static constexpr bool between(unsigned least, unsigned value, unsigned most) noexcept {
    return least <= value && value <= most;
  }

  static constexpr bool legal(unsigned number, std::uint32_t value) noexcept {
    const hw::McTiming0Register row{value};
    const hw::McTiming1Register column{value};
    const hw::McTiming2Register refresh{value};
    const hw::McTiming3Register recovery{value};
    switch (number) {
    case 0:
      return between(2, row.t_rcd(), 16) && between(2, row.t_rp(), 16) && between(2, row.t_ras(), 24) &&
             between(2, row.t_rrd_l(), 8);
    case 1:
      return between(2, column.t_cl(), 12) && between(2, column.t_ccd_l(), 8) &&
             between(2, column.t_wtr(), 16) && between(2, column.t_rtw(), 16);
    case 2:
      return between(1024, refresh.t_refi(), 65535) && between(32, refresh.t_rfc(), 511) &&
             between(2, refresh.t_faw(), 15);
    default:
      return between(2, recovery.t_wr(), 24) && between(2, recovery.t_rtp(), 16);
    }
  }

  std::array<std::uint32_t, 4> values_{
      hw::McTiming0Register{}.set_t_rcd(5).set_t_rp(5).set_t_ras(10).set_t_rrd_l(2).raw,
      hw::McTiming1Register{}.set_t_cl(5).set_t_ccd_l(2).set_t_wtr(7).set_t_rtw(3).raw,
      hw::McTiming2Register{}.set_t_refi(2340).set_t_rfc(105).set_t_faw(7).raw,
      hw::McTiming3Register{}.set_t_wr(9).set_t_rtp(3).raw};
  bool refused_ = false;
};

}  // namespace datum::sim
