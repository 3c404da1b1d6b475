// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// A `while` with outputs: contexts observe the operations of its regions, and not the collection of the outputs.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/evaluate.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace overdub;

char const* const halves = R"(
func @halves(%x: f64, %y: f64) -> (f64, f64[], f64[]) {
  %last, %all, %products = while (%z: f64 = %x) -> f64 stack (f64, f64) {
    %more = gt %z, 1.0 : bool
    yield %more
  } do (%a: f64) {
    %h = mul %a, 0.5 : f64
    %p = mul %h, %y : f64
    yield %h, %a, %p
  }
  return %last, %all, %products
}
)";
char const* const rows = R"(
func @rows(%x: f64, %n: i64) -> (f64, f64[][]) {
  %k, %last, %all = while (%i: i64 = 0, %a: f64 = %x) -> (i64, f64) stack f64[] {
    %more = lt %i, %n : bool
    yield %more
  } do (%j: i64, %b: f64) {
    %m = add %j, 1 : i64
    %c = mul %b, %x : f64
    %row = array %b, %c : f64[]
    yield %m, %c, %row
  }
  return %last, %all
}
)";

ir::program program_of(char const* text) {
  ir::program p = ir::parse(text);
  p.entry = ir::function_id{0};
  return p;
}

using three = std::tuple<double, array<double>, array<double>>;

struct events : context {
  std::vector<std::string> names;
  void before(callee auto const& f, auto const&...) { names.emplace_back(f.name()); }
};
struct named_while : context {
  int calls = 0;
  void before(while_t, auto const&...) { ++calls; }
};
struct other_fill : context {
  auto overdub(fill_t fill, auto n, auto x) { return fill(n + 1, x); }
  auto overdub(concat_t concat, auto a, auto) { return concat(a, a); }
};
struct doubled : context {
  auto overdub(mul_t mul, auto x, auto y) { return mul(x, y) + mul(x, y); }
};

} // namespace

// Metadata that count their copies. The type has linkage, since headers declare functions of its type.
struct copy_counter {
  static inline long copies = 0;
  copy_counter() = default;
  copy_counter(copy_counter const&) noexcept { ++copies; }
  copy_counter(copy_counter&&) noexcept {}
  copy_counter& operator=(copy_counter const&) noexcept {
    ++copies;
    return *this;
  }
  copy_counter& operator=(copy_counter&&) noexcept { return *this; }
};

namespace {

struct counts_copies : context {
  template <class T>
  using metadata = copy_counter;
  copy_counter constant(auto const&) const { return {}; }
  template <elementwise F>
  auto overdub(F f, auto... x) {
    return tag(f(x.inner...), copy_counter{});
  }
};

template <class... X>
three of_halves(ir::program const& p, X const&... x) {
  return evaluate<double, array<double>, array<double>>(p, x...);
}
template <class Context, class... X>
three halves_in(Context& context, ir::program const& p, X const&... x) {
  return run(
      context, [&](auto const&... y) { return evaluate<double, array<double>, array<double>>(p, y...); },
      x...);
}

} // namespace

TEST_CASE("contexts observe the iterations of a while, and not how its outputs are collected") {
  ir::program const p = program_of(halves);
  three const expected(1.0, {8.0, 4.0, 2.0}, {12.0, 6.0, 3.0});
  CHECK(of_halves(p, 8.0, 3.0) == expected);

  events direct, rewrites;
  CHECK(halves_in(direct, p, 8.0, 3.0) == expected);
  CHECK(
      direct.names ==
      std::vector<std::string>{
          "halves", "while", "gt", "mul", "mul", "gt", "mul", "mul", "gt", "mul", "mul", "gt"});
  CHECK(of_halves(overdub::overdub(rewrites, p), 8.0, 3.0) == expected);
  CHECK(rewrites.names == direct.names);

  other_fill no_touch;
  CHECK(halves_in(no_touch, p, 8.0, 3.0) == expected);
  CHECK(of_halves(overdub::overdub(no_touch, p), 8.0, 3.0) == expected);
  std::string const rewritten = ir::print(overdub::overdub(no_touch, p));
  CHECK(rewritten.find("stack (f64, f64)") != std::string::npos);
  CHECK(rewritten.find("fill %") == std::string::npos);

  doubled touches;
  three const other(0.0, {}, {});
  three const result = halves_in(touches, p, 0.5, 3.0);
  CHECK(std::get<1>(result).size() == 0);
  CHECK(of_halves(overdub::overdub(touches, p), 0.5, 3.0) == result);
}

TEST_CASE("the outputs of a while have derivatives, with a row of each iteration") {
  ir::program const p = program_of(rows);
  contexts::forward along;
  auto const r = run(
      along, [&](auto x) { return evaluate<double, array<array<double>>>(p, x, i64{3}); }, tag(2.0, 1.0));
  CHECK(std::get<0>(r).inner == 16.0);
  CHECK(std::get<0>(r).metadata == 32.0);
  CHECK(std::get<1>(r).inner == array<array<double>>{{2, 4}, {4, 8}, {8, 16}});
  CHECK(std::get<1>(r).metadata == array<array<double>>{{1, 4}, {4, 12}, {12, 32}});
  auto const none = run(
      along, [&](auto x) { return evaluate<double, array<array<double>>>(p, x, i64{0}); }, tag(2.0, 1.0));
  CHECK(std::get<1>(none).inner == array<array<double>>{});
}

TEST_CASE("a while with outputs is rewritten in a context with metadata") {
  ir::program const slope = overdub::overdub(contexts::forward{}, program_of(halves));
  using numbers = array<double>;
  auto const r = evaluate<double, double, numbers, numbers, numbers, numbers>(slope, 8.0, 1.0, 3.0, 0.0);
  CHECK(
      r ==
      std::tuple(
          1.0, 0.125, numbers{8, 4, 2}, numbers{1, 0.5, 0.25}, numbers{12, 6, 3}, numbers{1.5, 0.75, 0.375}));
  CHECK(ir::print(slope).find("fill %") == std::string::npos);
}

TEST_CASE("collecting the outputs of a while takes time proportional to their number") {
  ir::program const p = program_of(rows);
  auto const copies_of = [&](i64 n) {
    copy_counter::copies = 0;
    counts_copies context;
    auto const r = run(
        context, [&](auto x) { return evaluate<double, array<array<double>>>(p, x, n); },
        tag(0.5, copy_counter{}));
    CHECK(std::get<1>(r).inner.size() == n);
    return static_cast<double>(copy_counter::copies);
  };
  double const few = copies_of(100);
  CHECK(few > 100);
  CHECK(copies_of(1000) < 11 * few);
}

TEST_CASE("a rule or hook that names while_ is rejected where a while has outputs") {
  named_while context;
  ir::program const with_outputs = program_of(halves);
  CHECK_THROWS_WITH(
      halves_in(context, with_outputs, 8.0, 3.0),
      Catch::Contains("and the program has a `while` with outputs"));
  CHECK_THROWS_WITH(overdub::overdub(context, with_outputs), Catch::Contains("with outputs"));
  CHECK(context.calls == 0);
  contexts::count_of<while_t> counts;
  CHECK_THROWS_WITH(halves_in(counts, with_outputs, 8.0, 3.0), Catch::Contains("with outputs"));
}
