// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// sum and dot are reductions by add in every context, on all executors.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

inline constexpr auto total = fn<"total">([](auto xs, auto) { return sum(xs); });
inline constexpr auto folded = fn<"folded">([](auto xs, auto ys) { return reduce(add, ys[i64{0}], xs); });
inline constexpr auto product = fn<"product">([](auto xs, auto ys) { return dot(xs, ys); });
inline constexpr auto largest = fn<"largest">([](auto xs, auto ys) { return reduce(max, ys[i64{0}], xs); });

struct silent : context {};
struct add_is_sub : context {
  auto overdub(add_t, auto x, auto y) { return x - y; }
};
struct mul_is_add : context {
  auto overdub(mul_t, auto x, auto y) { return x + y; }
};
struct sin_is_cos : context {
  auto overdub(sin_t, auto x) { return overdub::cos(x); }
};
template <class... F>
struct seen : context {
  std::vector<std::string> events;
  template <class G>
  requires(std::same_as<G, F> || ...) void before(G const& f, auto x, auto y) {
    events.push_back(
        std::string(f.name()) + ' ' + std::to_string(static_cast<double>(x)) + ' ' +
        std::to_string(static_cast<double>(y)));
  }
};
struct seen_after : context {
  std::vector<std::string> events;
  void after(arithmetic auto f, auto result, auto, auto) {
    events.push_back(std::string(f.name()) + ' ' + std::to_string(static_cast<double>(result)));
  }
};

// The value and the events of each executor.
template <class C, class F, class T>
void same_in_all_ways(F const& f, array<T> const& xs, array<T> const& ys) {
  auto const events_of = [](C& c) {
    if constexpr (requires { c.events; })
      return std::exchange(c.events, {});
    else
      return std::vector<std::string>{};
  };
  C direct, staged, rewritten;
  T const expected = overdub::run(direct, f, xs, ys);
  auto const expected_events = events_of(direct);
  ir::program const by_stage = stage(staged, f, signature<array<T>, array<T>>);
  ir::program const by_program = overdub::overdub(rewritten, stage(f, signature<array<T>, array<T>>));
  INFO(F::name() << " in " << type_name<C>() << ", " << xs.size() << " elements\n" << ir::print(by_stage));
  CHECK(evaluate<T>(by_stage, xs, ys) == expected);
  CHECK(events_of(staged) == expected_events);
  CHECK(executable(by_stage).template call<T>(xs, ys) == expected);
  CHECK(events_of(staged) == expected_events);
  CHECK(executable(by_program).template call<T>(xs, ys) == expected);
  CHECK(events_of(rewritten) == expected_events);
}
template <class C, class T>
void same_for_sizes() {
  for (i64 const n : {1, 2, 3, 7, 8, 9, 16, 21}) {
    auto const xs = map([](auto i) { return convert<T>(i * 3 + 1); }, iota(n));
    auto const ys = map([](auto i) { return convert<T>(i * i - 5); }, iota(n));
    same_in_all_ways<C>(total, xs, ys);
    same_in_all_ways<C>(folded, xs, ys);
    same_in_all_ways<C>(product, xs, ys);
    same_in_all_ways<C>(largest, xs, ys);
  }
}
template <class... C>
void same_in_contexts() {
  (same_for_sizes<C, double>(), ...);
  (same_for_sizes<C, i64>(), ...);
}

bool is_in_lanes(auto context) {
  return ir::print(stage(context, total, signature<array<double>, array<double>>)).find("in_lanes") !=
         std::string::npos;
}

} // namespace

TEST_CASE("sum and dot are reductions by add: values and events are the same on all executors") {
  same_in_contexts<
      silent, add_is_sub, mul_is_add, sin_is_cos, seen<add_t>, seen<mul_t>, seen<sub_t>,
      seen<add_t, mul_t, max_t>, seen_after>();
}

TEST_CASE("a sum equals its additions in a context that replaces add") {
  add_is_sub context;
  array<double> const xs{1, 2, 4};
  CHECK(overdub::run(context, total, xs, xs) == 5.0);    // 0 - ((1 - 4) - 2)
  CHECK(overdub::run(context, product, xs, xs) == 19.0); // 0 - ((1 - 16) - 4)
  seen<add_t> adds;
  overdub::run(adds, total, xs, xs);
  CHECK(adds.events.size() == 3);
}

TEST_CASE("a sum remains one operation of the program unless a context intercepts add") {
  CHECK(!is_in_lanes(silent{}));
  CHECK(!is_in_lanes(sin_is_cos{}));
  CHECK(!is_in_lanes(mul_is_add{}));
  CHECK(!is_in_lanes(seen<mul_t>{}));
  CHECK(!is_in_lanes(compose(sin_is_cos{}, seen<mul_t>{})));
  CHECK(is_in_lanes(add_is_sub{}));
  CHECK(is_in_lanes(seen<add_t>{}));
  CHECK(is_in_lanes(compose(sin_is_cos{}, seen<add_t>{})));
}

TEST_CASE("add_to makes no call of add, in a context and in the rewritten program") {
  ir::program const p = ir::parse(R"(
entry @f
func @f(%x: f64, %xs: f64[]) -> f64 {
  %sums = accumulate (%acc: acc f64[] = %xs) -> f64[] {
    add_to %acc, 0, %x
    yield
  }
  %y = at %sums, 0 : f64
  return %y
}
)");
  auto const of = [&](auto const& program, auto x) {
    return evaluate<double>(program, x, array<double>{2.0});
  };
  auto const in_both = [&](auto context) {
    double const run = overdub::run(
        context, [&](auto x) { return of(p, x); }, 1.0);
    CHECK(of(overdub::overdub(context, p), 1.0) == run);
    return run;
  };
  CHECK(in_both(silent{}) == 3.0);
  CHECK(in_both(add_is_sub{}) == 3.0);
  CHECK(in_both(compose(add_is_sub{}, mul_is_add{})) == 3.0);

  double const slope = derivative(
      add_is_sub{}, [&](auto x) { return of(p, x); }, 1.0);
  CHECK(slope == 1.0);
  ir::program const forward = overdub::overdub(compose(add_is_sub{}, contexts::forward{}), p);
  CHECK(
      evaluate<double, double>(forward, 1.0, 1.0, array<double>{2.0}, array<double>{0.0}) ==
      std::tuple{3.0, 1.0});
  auto const [value, tangent] = overdub::run(
      compose(add_is_sub{}, contexts::forward{}), [&](auto x) { return of(p, x); }, tag(1.0, 1.0));
  CHECK(value == 3.0);
  CHECK(tangent == 1.0);
}
