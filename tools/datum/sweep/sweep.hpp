// What a sweep over sizes found: for each size how long one operation took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace datum::tool {

/// One size. Times are of one operation, on the wall.
struct SweepPoint {
  std::uint64_t bytes = 0;
  double median_us = 0;
  double fastest_us = 0;
  double slowest_us = 0;
  std::uint64_t samples = 0;

  /// 1 byte in 1 us is 1 MB/s.
  [[nodiscard]] double megabytes_per_s() const noexcept {
    return median_us > 0 ? static_cast<double>(bytes) / median_us : 0;
  }
};

struct SweepSeries {
  std::string name;  ///< "host to device"
  std::vector<SweepPoint> points;
};

enum class SweepUnit : std::uint8_t { megabytes_per_s, microseconds };

/// One kind of operation, over sizes.
struct Sweep {
  std::string name;   ///< as the command line has it: "copy"
  std::string title;  ///< "Copies"
  SweepUnit unit = SweepUnit::microseconds;
  std::vector<SweepSeries> series;

  [[nodiscard]] double value(const SweepPoint& point) const noexcept {
    return unit == SweepUnit::megabytes_per_s ? point.megabytes_per_s() : point.median_us;
  }

  [[nodiscard]] const char* unit_text() const noexcept {
    return unit == SweepUnit::megabytes_per_s ? "MB/s" : "us";
  }
};

struct SweepReport {
  std::string board;   ///< the address as given; empty: as DATUM_BOARDS says
  std::string device;  ///< the device's name
  std::vector<Sweep> sweeps;
};

}  // namespace datum::tool
