// The text of models, distributions and incremental programs does not depend on the decimal comma of a locale.
#include "contexts/comma_locale.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/distributions.hpp>
#include <overdub/incremental.hpp>
#include <overdub/models/model.hpp>

#include <exception>
#include <sstream>
#include <string>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;

template <class X>
std::string streamed(X const& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}
template <class F>
std::string thrown(F const& f) {
  try {
    f();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "";
}

constexpr auto line = od::fn<"line">([](od::scope auto& cx, auto const& xs) {
  auto const slope = cx(od::sample<"slope">, ds::normal(0.25, 1234.5));
  od::map([&](auto x) { return cx(od::sample<"y">, ds::normal(slope * x, 0.5)); }, xs);
  return 10.0 * slope;
});
constexpr auto score = od::fn<"score">([](auto const& x, auto const& means) {
  auto const point = [&](auto y) { return ds::log_density(ds::normal(means[0], 1.0), y); };
  return od::sum(od::map(point, x));
});

} // namespace

TEST_CASE("addresses, choices, distributions and explanations are written as under the C locale") {
  check_in_comma_locale([] {
    texts all;
    all["address"] = streamed(od::models::address("theta[1234567][2000]"));
    all["distribution"] = streamed(ds::normal(1234.5, 0.125));
    od::array<double> const xs = od::fill(1500, 0.5);
    auto const m = od::models::model(line, xs);
    auto const [t, weight] = m.generate({{"slope", 1234.5}, {"y", od::fill(1500, 0.25)}}, od::random_key(7));
    all["choices"] = streamed(t.choices());
    all["unknown"] = thrown([&] { (void)t.get<double>("theta[2000]"); });
    auto f = od::incremental(score, xs, od::array<double>{0.5});
    for (int i = 0; i < 3; ++i) f.set_at<0>(1000 + i, 1.5);
    f.propose();
    all["explain"] = f.explain();
    return all;
  });
}
