// Run by g++: the sanitizers run evaluate, which shares its code.
// Accumulators of metadata, in programs that are evaluated in contexts, and the observations of hooks.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>
#include <overdub/stage/evaluate.hpp>

#include <stdexcept>

namespace {

using namespace overdub;

// The exponent of metres: only numbers with equal exponents may be added.
struct metres : context {
  template <class T>
  using metadata = int;
  int constant(auto const&) const { return 0; }
  auto overdub(add_t f, auto x, auto y) {
    if (x.metadata != y.metadata) throw std::domain_error("these do not add");
    return tag(f(x.inner, y.inner), x.metadata);
  }
};

struct counts_accesses : context {
  int at = 0, updates = 0, additions = 0;
  void before(at_t, auto const&...) { ++at; }
  void before(update_t, auto const&...) { ++updates; }
  void before(add_t, auto const&...) { ++additions; }
  friend bool operator==(counts_accesses const& a, counts_accesses const& b) {
    return a.at == b.at && a.updates == b.updates && a.additions == b.additions;
  }
};
inline constexpr auto selected = fn<"selected">([](auto xs, auto i) {
  auto const largest = reduce(max, xs);
  return largest * if_(
                       i > 0, [&] { return xs[i] * 2.0; }, [&] { return xs[i64(0)] * xs[i64(1)]; });
});
ir::program adds_to_rows() {
  return ir::parse(R"(
entry @f
func @f(%rows: f64[][], %row: f64[], %x: f64) -> f64[][] {
  %sums = accumulate (%acc: acc f64[][] = %rows) -> f64[][] {
    add_to %acc, 1, %row
    add_to %acc, 0, 1, %x
    add_to %acc, 1, 0, %x
    yield
  }
  return %sums
}
)");
}

} // namespace

TEST_CASE("an accumulator adds rows and numbers of values and tangents, without calls") {
  using rows = array<array<double>>;
  ir::program const p = adds_to_rows();
  auto const evaluated = [&](auto const&... v) { return evaluate<rows>(p, v...); };
  rows const start{{1.0, 2.0}, {3.0, 4.0}}, expected{{1.0, 102.0}, {113.0, 24.0}};
  counts_accesses counts;
  CHECK(overdub::run(counts, evaluated, start, array<double>{10.0, 20.0}, 100.0) == expected);
  CHECK(counts == counts_accesses{});

  auto const both = overdub::run(
      contexts::forward{}, evaluated, tag(start, rows{{0.0, 0.0}, {1.0, 0.0}}),
      tag(array<double>{10.0, 20.0}, array<double>{2.0, 3.0}), tag(100.0, 7.0));
  CHECK(both.inner == expected);
  CHECK(both.metadata == rows{{0.0, 7.0}, {10.0, 3.0}});
}
TEST_CASE("an accumulator in a context rejects an index out of range, as its executable does") {
  ir::program const p = ir::parse(R"(
entry @f
func @f(%xs: f64[], %i: i64) -> f64[] {
  %sums = accumulate (%acc: acc f64[] = %xs) -> f64[] {
    add_to %acc, %i, 1.0
    yield
  }
  return %sums
}
)");
  counts_accesses counts;
  CHECK_THROWS_WITH(
      overdub::run(
          counts, [&](auto const&... v) { return evaluate<array<double>>(p, v...); }, array<double>{1.0},
          i64(1)),
      Catch::Contains("add_to"));
}
TEST_CASE("hooks observe the same calls of a gradient in its direct run and in its compiled function") {
  array<double> const xs{1.0, 3.0, 2.0};
  for (i64 const i : {0, 2}) {
    counts_accesses direct, compiled;
    auto const expected = overdub::run(direct, gradient<0>(selected), xs, i);
    auto const f = compile(compiled, gradient<0>(selected), types<array<double>, i64>{});
    CHECK(f(xs, i) == expected);
    CHECK(direct == compiled);
    CHECK(direct.updates == 0);
  }
}

TEST_CASE("an accumulator adds metadata by the context's rule, if all values have one type") {
  ir::program const p = ir::parse(R"(
entry @f
func @f(%x: f64, %xs: f64[]) -> f64 {
  %sums = accumulate (%acc: acc f64[] = %xs) -> f64[] {
    add_to %acc, 1, %x
    yield
  }
  %y = at %sums, 1 : f64
  return %y
}
)");
  auto const in_metres = [&](auto x, auto xs) {
    return overdub::run(
        metres{}, [&](auto const&... v) { return evaluate<double>(p, v...); }, x, xs);
  };
  auto const total = in_metres(tag(1.0, 2), tag(array<double>{5.0, 2.0}, array<int>{1, 2}));
  CHECK(total.inner == 3.0);
  CHECK(total.metadata == 2);
  CHECK_THROWS_AS(in_metres(tag(1.0, 2), tag(array<double>{5.0, 2.0}, array<int>{2, 1})), std::domain_error);
}
