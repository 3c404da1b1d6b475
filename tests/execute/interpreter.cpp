// Calls of executables from C++, and their results.
#include "texts.hpp"

#include <overdub/overdub.hpp>
#include <overdub/stage/stage.hpp>

#include <array>
#include <tuple>

namespace {

using namespace overdub;
using texts::program;

constexpr auto square = fn<"square">([](auto x) { return x * x; });
constexpr auto norm = fn<"norm">(
    [](auto xs) { return overdub::sqrt(sum(overdub::map([](auto x) { return square(x); }, xs))); });

// Each operation rounds, on any target.
constexpr auto wave =
    fn<"wave">([](auto x, auto y) { return overdub::sin(x) * y + overdub::exp(x) - y / x; });

executable split() {
  return executable(program(R"(func @split(%x: f64[], %n: i64, %c: bool) -> (f64[], i64, bool, f64[]) {
    %m = length %x : i64
    %rest = sub %m, %n : i64
    %a = slice %x, 0, %n : f64[]
    %b = slice %x, %n, %rest : f64[]
    return %a, %rest, %c, %b
  })"));
}

} // namespace

TEST_CASE("the members of a moved-from executable and of a moved-from instance throw") {
  executable from(stage(square, signature<double>));
  executable const to = std::move(from);
  char const* const moved = "overdub: this executable was moved from; assign to it before it is used";
  CHECK_THROWS_WITH(from.call<double>(1.0), moved);
  CHECK_THROWS_WITH(from(1.0), moved);
  CHECK_THROWS_WITH(from.run(std::vector{datum(1.0)}), moved);
  CHECK_THROWS_WITH(from.instance(), moved);
  CHECK_THROWS_WITH(from.parameters(), moved);
  CHECK_THROWS_WITH(from.results(), moved);
  CHECK_THROWS_WITH(from.size(), moved);
  CHECK_THROWS_WITH(from.code(), moved);
  from = to;
  CHECK(from.call<double>(3.0) == 9.0);

  instance first = to.instance();
  instance second = std::move(first);
  char const* const moved_instance = "overdub: this instance was moved from; assign to it before it is used";
  CHECK_THROWS_WITH(first.call<double>(1.0), moved_instance);
  CHECK_THROWS_WITH(first.run(std::vector{datum(1.0)}), moved_instance);
  CHECK_THROWS_WITH(first.array_bytes(), moved_instance);
  first = std::move(second);
  CHECK(first.call<double>(3.0) == 9.0);
}

TEST_CASE("a staged function has the result of the function") {
  executable const run(stage(norm, signature<array<double>>));
  CHECK(run.call<double>(std::vector{3.0, 4.0}) == 5.0);
  executable const waves(stage(wave, signature<double, double>));
  for (double x = -3; x < 3; x += 0.17) CHECK(waves.call<double>(x, 0.3) == wave(x, 0.3));
}

TEST_CASE("arguments are numbers, ranges, arrays and data; results are numbers, arrays, spans and tuples") {
  executable const run = split();
  std::vector<double> const x{1, 2, 3};
  auto const [a, n, c, b] = run.call<std::tuple<array<double>, i64, bool, array<double>>>(x, 1, true);
  CHECK(a == array<double>{1.0});
  CHECK((n == 2 && c));
  CHECK(b == array<double>{2.0, 3.0});
  CHECK(run(std::array{1.0, 2.0, 3.0}, 1, true) == run(array<double>{1.0, 2.0, 3.0}, datum(1), true));

  auto inst = run.instance();
  using views = std::tuple<std::span<double const>, i64, bool, std::span<double const>>;
  auto const [first, m, d, second] = inst.call<views>(x, 1, false);
  CHECK(first.data() == x.data()); // a part of the argument
  CHECK(second.data() == x.data() + 1);
  CHECK((second.size() == 2 && m == 2 && !d));
  i64 const total = executable(program("func @f(%x: i64[]) -> i64 { %s = reduce add %x : i64 return %s }"))
                        .call<i64>(std::vector<i64>{1, 2, 3});
  CHECK(total == 6);
}

TEST_CASE("arguments and results of other types are rejected, with their types") {
  executable const run = split();
  std::vector<double> const x{1};
  CHECK_THROWS_WITH(run(x, 1), Catch::Contains("@split takes 3 arguments, and was given 2"));
  CHECK_THROWS_WITH(run(x, 1.5, true), Catch::Contains("@split: parameter 2, %n is i64, and was given f64"));
  CHECK_THROWS_AS(run.call<double>(x, 1, true), type_error);
  using wrong = std::tuple<array<double>, double, bool, array<double>>;
  CHECK_THROWS_WITH(run.call<wrong>(x, 1, true), Catch::Contains("result 2 is i64, and is requested as f64"));
}

TEST_CASE("an executable is a value, and outlives its program") {
  auto const make = [] {
    ir::program const p = program("func @f(%x: f64) -> f64 { %y = mul %x, 2.0 : f64 return %y }");
    executable const first(p);
    executable const second = first;
    return second;
  };
  CHECK(make().call<double>(2.0) == 4.0);
  CHECK(double(make()(3.0)) == 6.0);
}

TEST_CASE("an invalid program cannot become an executable") {
  ir::program p = program("func @f(%x: f64) -> f64 { %y = mul %x, 2.0 : f64 return %y }");
  p[p.entry].results = {ir::i64};
  CHECK_THROWS_AS(executable(p), ir::verify_error);
  p.entry = ir::nothing;
  CHECK_THROWS_AS(executable(p), not_executable);
}

TEST_CASE("a failed call leaves the instance unchanged") {
  auto inst = executable(program(R"(func @f(%x: f64[], %i: i64) -> f64[] {
    %n = length %x : i64
    %y = map %n (%k: i64) -> f64 { %w = at %x, %k : f64 %z = add %w, 1.0 : f64 yield %z }
    %e = at %y, %i : f64
    %u = update %y, 0, %e : f64[]
    return %u
  })"))
                  .instance();
  std::vector<double> const x{1, 2};
  auto const call = [&] { return inst.call<array<double>>(x, 1); };
  CHECK(call() == array<double>{3.0, 3.0});
  std::size_t const bytes = inst.array_bytes();
  for (int i = 0; i < 10; ++i) CHECK_THROWS_AS(inst.call<void>(x, 2), index_error);
  CHECK(call() == array<double>{3.0, 3.0});
  CHECK(inst.array_bytes() == bytes);
}
