// `forward` of the program that is lifted from a function template over double is `forward` of the template in a direct run: the same
// values and tangents, for random templates.
#include "lift/executors.hpp"
#include "random_templates.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace {

overdub::ir::program const& transformed() {
  static overdub::ir::program const p =
      overdub::forward_of(overdub::lift_file(OVERDUB_LIFT_TEMPLATES).program);
  return p;
}

struct sample {
  double a, da, b, db;
  int k;
};
constexpr sample samples[] = {
    {0.5, 1, -1.25, 0, 2}, {1.5, -0.5, 0.25, 2, -3}, {-2, 1, 3, 1, 7}, {0.75, 0.125, 0.5, -1, 0}};

bool is_same(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

template <class F>
void check_forward(int number, F const& f) {
  std::string const name = "number" + std::to_string(number) + "(double, double, int).forward";
  auto const found = transformed().find(name);
  INFO(name);
  REQUIRE(found);
  overdub::executable const lifted(transformed(), *found);
  for (sample const& s : samples) {
    overdub::contexts::forward forward;
    auto const expected = overdub::overdub(
        forward, [&](auto const& a, auto const& b) { return f(a, b, s.k); }, overdub::tag(s.a, s.da),
        overdub::tag(s.b, s.db));
    std::vector<overdub::datum> const given{s.a, s.da, s.b, s.db, s.k}, results = lifted.run(given);
    INFO("a = " << s.a << ", b = " << s.b << ", k = " << s.k);
    CHECK(is_same(results.at(0).as<double>(), expected.inner));
    CHECK(is_same(results.at(1).as<double>(), expected.metadata));
  }
}

} // namespace

TEST_CASE("forward of a lifted function is forward of its template") {
#define OVERDUB_CHECK(number)                                                                                \
  check_forward(number, [](auto a, auto b, int k) { return templates::f##number(a, b, k); });
  OVERDUB_RANDOM_TEMPLATES(OVERDUB_CHECK)
#undef OVERDUB_CHECK
}
