// check: the possible failures of a function, without a run. Here: a score of measurements, some of which fail.
#include <overdub/check.hpp>
#include <overdub/overdub.hpp>

#include <iostream>

namespace od = overdub;
using od::between;
using od::check;
using od::each;

inline constexpr auto mean =
    od::fn<"mean">([](auto xs) { return od::sum(xs) / od::convert<double>(od::size(xs)); });
inline constexpr auto spread = od::fn<"spread">([](auto xs) {
  auto const middle = mean(xs);
  return od::sqrt(mean(od::map([&](auto x) { return (x - middle) * (x - middle); }, xs)));
});
inline constexpr auto score =
    od::fn<"score">([](auto xs) { return (od::at(xs, 0) - mean(xs)) / spread(xs); });

int main() {
  auto const anything = check(score, each(between(-1000.0, 1000.0)));
  std::cout << "any measurements:\n" << anything;

  // There is at least one measurement, but all may be equal.
  auto const some = check(score, each(between(-1000.0, 1000.0), 1));
  std::cout << "at least one measurement:\n" << some;

  using kind = od::finding_kind;
  bool const right = anything.count(kind::index) == 1 && some.count(kind::index) == 0 &&
                     some.findings.size() == 2 && some.findings[0].what.starts_with("div may");
  return right ? 0 : 1;
}
