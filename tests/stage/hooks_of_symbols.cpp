// Long mode: its contexts take a compiler minutes.
// Hooks of functions and native functions that a context names by symbols, and hooks of functions that take vectors: the same events
// in direct runs, staged, and for programs.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/retry.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/evaluate.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace overdub;

inline constexpr auto inner = fn<"inner">([](auto x) { return x * x; });
inline constexpr auto looked_up = leaf<"looked_up">([](double x) { return x + 0.25; });
inline constexpr auto two = fn<"two">([](auto x) {
  auto const y = inner(x);
  return looked_up(y);
});

struct writer {
  std::ostringstream events;
  void write(std::string_view kind, std::string_view f) { events << kind << ' ' << f << '\n'; }
};
struct observes_families : context, writer {
  auto overdub(decltype(symbol<"looked_up">), auto x) { return 2.0 * x; }
  void before(function auto f, auto const&...) { write("function", f.name()); }
  void before(native_leaf auto f, auto const&...) { write("native", f.name()); }
  void after(primitive auto f, auto const&, auto const&...) { write("after", f.name()); }
};
struct observes_symbols : context, writer {
  void before(decltype(symbol<"looked_up">), double) { write("symbol", "looked_up"); }
  void after(native_leaf auto f, double, double) { write("after", f.name()); }
};

template <class C>
std::string check_events(double expected) {
  C direct, staged, rewritten;
  CHECK(overdub::run(direct, two, 3.0) == expected);
  CHECK(executable(stage(staged, two, signature<double>)).template call<double>(3.0) == expected);
  CHECK(
      executable(overdub::overdub(rewritten, stage(two, signature<double>))).template call<double>(3.0) ==
      expected);
  CHECK(staged.events.str() == direct.events.str());
  CHECK(rewritten.events.str() == direct.events.str());
  return direct.events.str();
}

// Intercepts the functions to which another context is applied later.
struct first : context {
  static constexpr std::string_view name = "first";
  void before(function auto, auto const&...) {}
};
struct replaces_inner : context {
  auto overdub(decltype(symbol<"inner">), auto x) { return 7.0 * x; }
};
struct observes_inner : context {
  double sum = 0.0;
  void before(decltype(symbol<"inner">), double x) { sum += x; }
};

// Fails twice.
inline int failures = 0;
inline constexpr auto flaky = leaf<"flaky">([](double x) {
  if (failures++ < 2) throw std::runtime_error("flaky");
  return x + 4.0;
});
struct replaces_by_ten_times : context {
  auto overdub(rule_call auto call, decltype(symbol<"inner">), auto x) { return call.recurse(x) * 10.0; }
};

inline constexpr auto squares = fn<"squares">([](auto const& xs, auto const& pair) {
  auto total = std::get<1>(pair)[0];
  for (auto const& x : xs) total = total + x * x;
  return total;
});
inline constexpr auto of_vectors = fn<"of_vectors">([](auto x, auto y) {
  std::vector const one{x, y}, other{y, x, x};
  auto const first_sum = squares(one, std::tuple(x, other));
  auto const second_sum = squares(other, std::tuple(first_sum * 0.0 + x, one));
  return first_sum + second_sum;
});
struct reads_vectors : context {
  std::vector<double> sums;
  void before(
      decltype(squares), std::vector<double> const& xs, std::tuple<double, std::vector<double>> const& pair) {
    double sum = std::get<0>(pair) * 1000.0;
    for (double const x : xs) sum += x;
    for (double const x : std::get<1>(pair)) sum += 10.0 * x;
    sums.push_back(sum);
  }
};

} // namespace

TEST_CASE("hooks of families observe a native function that a symbol names") {
  CHECK(
      check_events<observes_families>(18.0) ==
      "function two\nfunction inner\nafter mul\nnative looked_up\nafter looked_up\n");
  CHECK(check_events<observes_symbols>(9.25) == "symbol looked_up\nafter looked_up\n");
  contexts::count_of<decltype(symbol<"looked_up">)> of, of_program;
  contexts::count all, all_of_program;
  CHECK(overdub::run(compose(of, all), two, 3.0) == 9.25);
  CHECK(
      executable(overdub::overdub(compose(of_program, all_of_program), stage(two, signature<double>)))
          .call<double>(3.0) == 9.25);
  CHECK(of_program(symbol<"looked_up">) == of(symbol<"looked_up">));
  CHECK(all_of_program.functions == all.functions);
  CHECK(all_of_program.primitives == all.primitives);
}
TEST_CASE("a symbol names a function of a program that was staged in another context") {
  first a;
  replaces_inner replaces;
  CHECK(overdub::run(compose(a, replaces), two, 3.0) == 21.25);
  CHECK(executable(overdub::overdub(replaces, stage(a, two, signature<double>))).call<double>(3.0) == 21.25);
  observes_inner observer;
  CHECK(executable(overdub::overdub(observer, stage(a, two, signature<double>))).call<double>(3.0) == 9.25);
  CHECK(observer.sum == 3.0);
}
TEST_CASE("hooks of staged functions receive vectors") {
  reads_vectors direct, staged;
  double const value = overdub::run(direct, of_vectors, 1.0, 2.0);
  CHECK(executable(stage(staged, of_vectors, signature<double, double>)).call<double>(1.0, 2.0) == value);
  CHECK(direct.sums == std::vector{1043.0, 1034.0});
  CHECK(staged.sums == direct.sums);
}
TEST_CASE("a context that names a symbol is composed with forward") {
  ir::program const p = stage(inner, signature<double>);
  contexts::forward forward;
  replaces_by_ten_times inside;
  auto const check = [](ir::program const& derivative) {
    auto const [value, slope] = executable(derivative).call<std::tuple<double, double>>(3.0, 1.0);
    CHECK(value == 90.0);
    CHECK(slope == 60.0);
  };
  check(overdub::overdub(compose(inside, forward), p));
  check(stage(compose(inside, forward), inner, signature<double>));
}
TEST_CASE("shipped contexts for native functions accept symbols") {
  auto const flaky_program = stage(fn<"calls_flaky">([](auto x) { return flaky(x); }), signature<double>);
  failures = 0;
  CHECK(overdub::run(contexts::retry(contexts::times<3>, symbol<"flaky">), flaky, 3.0) == 7.0);
  CHECK_THROWS_WITH(
      overdub::overdub(contexts::retry(contexts::times<3>, symbol<"flaky">), flaky_program),
      Catch::Contains("retry cannot repeat the call of \"flaky\" in this program"));
}
