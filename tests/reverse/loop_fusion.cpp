// Fusion of loops with their adjoints, and loops that cannot be fused.
#include "catch.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <string>

namespace {

using namespace overdub;

// A sum over neighbours.
constexpr auto chain = fn<"chain">([](auto const& x) {
  return overdub::loop(size(x) - 1, 0.0, [&](auto i, auto total) {
    auto const a = at(x, i), b = at(x, i + 1);
    return total + 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  });
});
// A sum over rows with an inner loop each, whose results a nonlinear function transforms.
constexpr auto of_rows = fn<"of_rows">([](auto const& x, auto const& data) {
  auto const d = size(x);
  return sum(tabulate(size(data) / d, [=](auto i) {
    auto const z = sum(tabulate(d, [=](auto j) { return data[i * d + j] * x[j]; }));
    return overdub::log1p(overdub::exp(z));
  }));
});
// The same with a logarithm: the backward pass needs all values.
constexpr auto through_logarithm =
    fn<"through_logarithm">([](auto const& x, auto const& data) { return overdub::log(of_rows(x, data)); });

template <class Compiled>
int loops_in(Compiled const& compiled) {
  int loops = 0;
  ir::program const& p = compiled.made().program();
  ir::function const& f = p[p.entry];
  for (ir::node_id const n : f.nodes_of(ir::function::body)) {
    auto const count = [&](ir::node_id m) {
      loops += f[m].code == ir::op::loop ||
               (f[m].code == ir::op::map && f[f.region_at(m, 0)].first != f.yield_of(f.region_at(m, 0)));
    };
    count(n);
    if (f[n].code == ir::op::accumulate)
      for (ir::node_id const m : f.nodes_of(f.region_at(n, 0))) count(m);
  }
  return loops;
}
template <class... A, class F>
auto interpreted(F const& f) {
  return compile(f, signature<A...>, {.tiers = tiers::interpret_only});
}

} // namespace

TEST_CASE("the gradient of a sum over a chain is one loop, and explain reports it") {
  auto const both = interpreted<array<double>>(value_and_gradient(chain));
  CHECK(loops_in(both) == 1);
  CHECK(explain(both).find("loop is fused with its adjoint") != std::string::npos);
  array<double> const x{0.3, -1.2, 0.7, 0.1};
  auto const [value, derivatives] = both(x);
  CHECK(value == chain(x));
  for (i64 i = 0; i < x.size(); ++i)
    CHECK(
        derivatives[i] == Approx(finite_difference([&](double y) { return chain(update(x, i, y)); }, x[i])));
}

TEST_CASE("the gradient of a sum over rows visits them once; with a logarithm, twice") {
  using numbers = array<double>;
  numbers const x{0.5, -1.0, 2.0}, data{0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 1.0, -2.0, 0.25};
  auto const once = interpreted<numbers, numbers>(value_and_gradient<0>(of_rows));
  auto const twice = interpreted<numbers, numbers>(value_and_gradient<0>(through_logarithm));
  CHECK(loops_in(once) == 1);
  CHECK(loops_in(twice) > 1);
  auto const [value, derivatives] = once(x, data);
  CHECK(value == of_rows(x, data));
  auto const [logarithm, derivatives_of_logarithm] = twice(x, data);
  for (i64 i = 0; i < x.size(); ++i) {
    CHECK(
        derivatives[i] ==
        Approx(finite_difference([&](double y) { return of_rows(update(x, i, y), data); }, x[i])));
    CHECK(derivatives_of_logarithm[i] == Approx(derivatives[i] / value));
  }
}

TEST_CASE("a fused loop has the errors of the function") {
  constexpr auto beyond = fn<"beyond">([](auto const& x, auto n) {
    return overdub::loop(n, 0.0, [&](auto i, auto total) { return total + at(x, i) * at(x, i + 1); });
  });
  auto const both = interpreted<array<double>, i64>(value_and_gradient<0>(beyond));
  CHECK(loops_in(both) == 1);
  array<double> const x{1.0, 2.0, 3.0};
  CHECK(both(x, 2).first == 8);
  CHECK(both(x, 0).first == 0);
  CHECK_THROWS_WITH(both(x, 3), Catch::Contains("index 3"));
}
