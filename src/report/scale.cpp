#include <overdub/implementation/report/scale.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace overdub::report::writing {

interval range_of(std::span<double const> numbers) {
  interval range;
  for (double const x : numbers)
    if (drawable(x)) range.add(x);
  return range;
}

interval widened(interval shown) {
  if (shown.empty()) return {0, 1};
  double const magnitude = std::max(std::abs(shown.low), std::abs(shown.high));
  if (shown.length() > std::max(1e-11 * magnitude, 1e-290)) return shown;
  double const half = magnitude > 1e-280 ? magnitude / 100 : 0.5;
  double const middle = shown.low / 2 + shown.high / 2;
  return {middle - half, middle + half};
}

interval padded(interval shown, double part) {
  return {shown.low - part * shown.length(), shown.high + part * shown.length()};
}

} // namespace overdub::report::writing

namespace overdub::report {

std::vector<double> scale::ticks(int about) const {
  std::vector<double> all;
  double const step = step_of(about);
  for (double k = std::ceil(shown_.low / step); k * step <= shown_.high; ++k) all.push_back(k * step);
  return all;
}

std::string scale::label(double tick, int about) const {
  double const step = step_of(about), magnitude = std::max(std::abs(shown_.low), std::abs(shown_.high));
  if (std::abs(tick) < step / 2) return "0";
  int const place = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  if (magnitude < 1e6 && step >= 0.99e-5) return writing::fixed(tick, std::max(0, -place));
  return writing::scientific(
      tick, std::max(1, static_cast<int>(std::floor(std::log10(magnitude))) - place + 1));
}

double scale::step_of(int about) const {
  double const rough = shown_.length() / about;
  double const power = std::pow(10.0, std::floor(std::log10(rough)));
  double const part = rough / power;
  return power * (part < 1.5 ? 1 : part < 3 ? 2 : part < 7 ? 5 : 10);
}

} // namespace overdub::report
