// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// Rules and hooks for functions of programs whose arguments and results are of any type: the direct run, `stage` in the context,
// overdub(context, program) and `evaluate` agree.
#include "catch.hpp"

#include <overdub/contexts/mock.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

template <class X, class T>
concept is = std::same_as<plain_t<X>, T>;

inline constexpr auto weight = fn<"weight">([](auto xs) { return sum(xs); });
inline constexpr auto next = fn<"next">([](auto n) { return n + i64{1}; });
inline constexpr auto is_big = fn<"is_big">([](auto x) { return x > 1.0; });
inline constexpr auto scaled =
    fn<"scaled">([](auto xs, auto y) { return map([y](auto x) { return x * y; }, xs); });
inline constexpr auto pair = fn<"pair">([](auto n, auto xs) { return std::tuple{at(xs, n), next(n)}; });
inline constexpr auto program = fn<"program">([](auto x, auto xs) {
  auto const [y, n] = pair(size(xs) - i64{2}, scaled(xs, x));
  auto const z = overdub::select(is_big(y), y, x);
  return weight(scaled(xs, z)) + convert<double>(n);
});

struct recording {
  std::vector<std::string> events;
  void put(std::string_view what, auto const& x) {
    events.push_back(std::string(what) + ' ' + io::number_text(static_cast<double>(x)));
  }
};
struct says_types : context, recording {
  auto overdub(decltype(weight), is<array<double>> auto xs) { return sum(xs) * 2.0; }
  auto overdub(decltype(next), is<i64> auto n) { return n + i64{10}; }
  auto overdub(decltype(is_big), auto x) { return x > 100.0; }
  auto overdub(decltype(scaled), is<array<double>> auto xs, is<double> auto y) {
    return map([y](auto x) { return x + y; }, xs);
  }
};
struct observes_types : context, recording {
  void before(decltype(weight), array<double> const& xs) { put("weight", xs[xs.size() - 1]); }
  void after(decltype(next), i64 result, i64) { put("next", result); }
  void after(decltype(is_big), bool result, double x) { put("is_big", result ? x : -x); }
  void before(decltype(scaled), array<double> const& xs, double y) { put("scaled", xs[0] * y); }
};
struct lists_types : context, recording {
  using callees = types<decltype(pair), decltype(weight)>;
  using signatures = types<std::tuple<double, i64>(i64, array<double>), double(array<double>)>;
  auto overdub(rule_call auto call, decltype(pair), auto n, auto xs) {
    auto const [x, m] = call.recurse(n, xs);
    return std::tuple{x + 1.0, m + n};
  }
  void before(decltype(pair), auto const& n, auto const& xs) { put("pair", xs[n]); }
  auto overdub(rule_call auto call, decltype(weight), auto xs) { return call.recurse(xs) + 0.5; }
};

array<double> const data{0.5, 1.5, 4.0};
template <class C>
std::string outcome(double value, C& c) {
  std::string all = io::number_text(value);
  for (std::string const& e : std::exchange(c.events, {})) all += '\n' + e;
  return all;
}
template <class C>
std::string run_program(C& c, ir::program const& p) {
  double const value = executable(p).call<double>(0.75, data);
  return outcome(value, c);
}
template <class C>
std::string same_in_all_ways() {
  C direct, staged, rewritten, from_text, evaluated;
  double const value = overdub::run(direct, program, 0.75, data);
  std::string const expected = outcome(value, direct);
  ir::program const p = stage(program, signature<double, array<double>>);
  CHECK(run_program(staged, stage(staged, program, signature<double, array<double>>)) == expected);
  CHECK(run_program(rewritten, overdub::overdub(rewritten, p)) == expected);
  CHECK(run_program(from_text, overdub::overdub(from_text, ir::parse(ir::print(p)))) == expected);
  double const by_evaluation = overdub::run(
      evaluated, [&](auto x, auto const& xs) { return evaluate<double>(p, x, xs); }, 0.75, data);
  CHECK(outcome(by_evaluation, evaluated) == expected);
  return expected;
}

} // namespace

TEST_CASE("rules apply to functions of programs with the types of their parameters") {
  CHECK(same_in_all_ways<says_types>() == "27.5");
}
TEST_CASE("hooks observe functions of programs of the types of their parameters") {
  CHECK(
      same_in_all_ways<observes_types>() ==
      "8.75\nscaled 0.375\nnext 2\nis_big 1.125\nscaled 0.5625\nweight 4.5");
}
TEST_CASE("rules apply to functions of programs with the signatures that their context lists") {
  CHECK(same_in_all_ways<lists_types>() == "16.25\npair 1.125");
}
TEST_CASE("a mock of a function of a program has its signature, or its symbol has") {
  ir::program const p = ir::parse(ir::print(stage(program, signature<double, array<double>>)));
  auto const run_in = [&](auto&& context) {
    return executable(overdub::overdub(context, p)).template call<double>(0.75, data);
  };
  auto const last = [](auto xs) { return at(xs, i64{2}); };
  CHECK(run_in(contexts::mock(weight, last).template called_as<double(array<double>)>()) == 4.5 + 2.0);
  CHECK(run_in(contexts::mock(symbol<"weight", double(array<double>)>, last)) == 4.5 + 2.0);
  try {
    run_in(contexts::mock(weight, [](auto) { return 1.0; }));
    FAIL();
  } catch (error const& e) {
    CHECK(
        std::string(e.what()).find("@weight, which is double(overdub::array<double>)") != std::string::npos);
  }
}
