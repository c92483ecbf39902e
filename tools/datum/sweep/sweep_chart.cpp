// Both axes are logarithmic: sizes and times run over powers.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tools/datum/output.hpp"
#include "tools/datum/sweep/html_text.hpp"
#include "tools/datum/sweep/sweep_output.hpp"

namespace datum::tool {

namespace {

constexpr double width = 800;
constexpr double height = 360;
constexpr double left = 80;
constexpr double right = 20;
constexpr double top = 20;
constexpr double bottom = 60;
// Told apart also by those who do not see red from green.
constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};

/// Where values stand: powers of two across, of ten upwards.
struct Scale {
  double first_size = std::numeric_limits<double>::max();  ///< as powers of two
  double last_size = 0;
  int lowest = std::numeric_limits<int>::max();  ///< as powers of ten
  int highest = std::numeric_limits<int>::min();

  [[nodiscard]] double x(std::uint64_t bytes) const {
    const double sizes = std::max(1.0, last_size - first_size);
    return left + (std::log2(static_cast<double>(bytes)) - first_size) / sizes * (width - left - right);
  }

  [[nodiscard]] double y(double value) const {
    return height - bottom -
           (std::log10(value) - lowest) / static_cast<double>(highest - lowest) * (height - top - bottom);
  }
};

/// No logarithm is taken of what is not above nothing.
bool can_be_drawn(double value) noexcept { return value > 0 && std::isfinite(value); }

Scale scale_of(const Sweep& sweep) {
  Scale scale;
  for (const SweepSeries& series : sweep.series) {
    for (const SweepPoint& point : series.points) {
      const double size = std::log2(static_cast<double>(point.bytes));
      scale.first_size = std::min(scale.first_size, size);
      scale.last_size = std::max(scale.last_size, size);
      if (const double value = sweep.value(point); can_be_drawn(value)) {
        scale.lowest = std::min(scale.lowest, static_cast<int>(std::floor(std::log10(value))));
        scale.highest = std::max(scale.highest, static_cast<int>(std::ceil(std::log10(value))));
      }
    }
  }
  scale.highest = std::max(scale.highest, scale.lowest + 1);
  return scale;
}

std::string axes(const Sweep& sweep, const Scale& scale) {
  std::string text;
  for (int power = scale.lowest; power <= scale.highest; ++power) {
    const double y = scale.y(std::pow(10.0, power));
    text += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", left, y,
                        width - right, y);
    text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", left - 8, y + 4,
                        std::pow(10.0, power));
  }
  const std::vector<SweepPoint>& points = sweep.series.front().points;
  const std::size_t step = std::max<std::size_t>(1, points.size() / 8);
  for (std::size_t index = 0; index < points.size(); index += step) {
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                        scale.x(points[index].bytes), height - bottom + 20, bytes_text(points[index].bytes));
  }
  return text + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 8, top - 6,
                            sweep.unit_text());
}

std::string line_of(const Sweep& sweep, const Scale& scale, std::size_t number) {
  const SweepSeries& series = sweep.series[number];
  const char* const colour = colours[number % std::size(colours)];
  std::string points;
  std::string dots;
  for (const SweepPoint& point : series.points) {
    const double value = sweep.value(point);
    if (!can_be_drawn(value)) {
      continue;
    }
    const double x = scale.x(point.bytes);
    const double y = scale.y(value);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
    dots += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}, {}: {:.2f} {}</title></circle>\n",
        x, y, colour, html_text(series.name), bytes_text(point.bytes), value, sweep.unit_text());
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n{}"
                     "<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n",
                     points, colour, dots, left + 150 * static_cast<double>(number), height - 10, colour,
                     html_text(series.name));
}

}  // namespace

std::string sweep_chart(const Sweep& sweep) {
  if (sweep.series.empty() || sweep.series.front().points.empty()) {
    return {};
  }
  const Scale scale = scale_of(sweep);
  std::string text = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}, {} over size\">\n",
                                 width, height, html_text(sweep.title), sweep.unit_text());
  text += axes(sweep, scale);
  for (std::size_t number = 0; number < sweep.series.size(); ++number) {
    text += line_of(sweep, scale, number);
  }
  return text + "</svg>\n";
}

}  // namespace datum::tool
