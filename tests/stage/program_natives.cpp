// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// Contexts observe native functions of programs as those of C++, whether the program was staged or parsed before.
#include "catch.hpp"

#include <overdub/contexts/mock.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>

#include <string>
#include <vector>

namespace {

using namespace overdub;

double printed = 0;
inline constexpr auto print = leaf<"print">([](double x) { printed += x; });
inline constexpr auto lookup = leaf<"lookup">([](double x) { return x + 1.0; }, effects::pure);
inline constexpr auto other = leaf<"other">([](double x) { return x; });
inline constexpr auto scale = leaf<"scale">(
    [](array<double> const& xs, i64 n) { return xs.size() == 0 ? 0.0 : static_cast<double>(n) * xs[0]; },
    effects::pure);
inline constexpr auto prints = fn<"prints">([](auto x) {
  print(x);
  return lookup(x) * x;
});
inline constexpr auto scales = fn<"scales">([](auto xs, auto n) {
  auto const scaled = scale(xs, n);
  return scaled + lookup(xs[0]);
});
// Calls for each number in a map, a loop and a branch.
inline constexpr auto in_regions = fn<"in_regions">([](auto xs) {
  auto const mapped = map([](auto x) { return lookup(x); }, xs);
  return loop(3, sum(mapped), [](auto, auto s) {
    return if_(
        s > 10.0, [&] { return lookup(s); }, [&] { return s * 2.0; });
  });
});

// The same program parsed from its text, which has no C++ types.
ir::program parsed(ir::program const& p) {
  ir::program from_text = ir::parse(ir::print(p));
  for (ir::host_binding b : p.hosts) {
    b.name = from_text.intern(p.text(b.name));
    b.origin_in_cpp = nullptr;
    from_text.hosts.push_back(b);
  }
  return from_text;
}

// Compares the direct run in a context with the rewritten program.
template <class Result, class Make, class F, class... X>
void check_same(Make const& make, F const& f, X const&... x) {
  auto direct = make();
  Result const expected = run(direct, f, x...);
  ir::program const p = stage(f, signature<X...>);
  for (ir::program const& q : {p, parsed(p)}) {
    auto context = make();
    CHECK(executable(overdub::overdub(context, q)).template call<Result>(x...) == expected);
    if constexpr (requires { context.said; }) CHECK(context.said == direct.said);
  }
  auto staged = make();
  CHECK(executable(stage(staged, f, signature<X...>)).template call<Result>(x...) == expected);
}

// Observes native functions alone.
struct listener : context {
  std::vector<std::string> said;
  void before(native_leaf auto f, auto const&... x) {
    said.push_back(std::string("before ") + std::string(f.name()) + ' ' + std::to_string(sizeof...(x)));
  }
  void after(native_leaf auto f, auto const& result, auto const&...) {
    if constexpr (requires { static_cast<double>(result); })
      said.push_back("after " + std::string(f.name()));
    else
      said.push_back("after");
  }
};
struct impure_listener : context {
  std::vector<std::string> said;
  template <native_leaf F>
  requires(F::effects != effect::pure) void before(F f, auto const&...) { said.emplace_back(f.name()); }
};
struct looked_up : context {
  std::vector<std::string> said;
  auto overdub(rule_call auto call, decltype(lookup), auto x) {
    return call(overdub::sin, x) + call.fallback(x);
  }
  void before(decltype(lookup) const&, double x) { said.push_back(std::to_string(x)); }
};
struct by_name : context {
  auto overdub(decltype(symbol<"lookup">), auto x) { return x * 100.0; }
};

} // namespace

TEST_CASE("rules that name a native function apply to its calls in programs") {
  auto const ten = [] { return contexts::mock(lookup, [](auto x) { return x * 10.0; }); };
  check_same<double>(ten, prints, 2.0);
  check_same<double>(ten, in_regions, array<double>{1.0, 2.5, -3.0});
  check_same<double>([] { return looked_up{}; }, prints, 2.0);
  check_same<double>(
      [] { return contexts::mock(scale, [](auto xs, auto n) { return xs[1] + convert<double>(n); }); },
      scales, array<double>{1.0, 7.0}, i64{3});
  check_same<double>([] { return contexts::mock(other, [](auto x) { return x; }); }, prints, 2.0);
}
TEST_CASE("a symbol names a native function of a program without its type") {
  by_name context;
  ir::program const p = parsed(stage(prints, signature<double>));
  CHECK(executable(overdub::overdub(context, p)).call<double>(3.0) == 900.0);
}
TEST_CASE("two native functions of one name are distinguished by their types") {
  constexpr auto first = leaf<"same">([](double x) { return x + 1.0; });
  constexpr auto second = leaf<"same">([](double x) { return x + 2.0; });
  constexpr auto both = fn<"both">([](auto x) { return decltype(first){}(x) * decltype(second){}(x); });
  auto context = contexts::mock(second, [](auto x) { return x * 10.0; });
  ir::program const p = overdub::overdub(context, stage(both, signature<double>));
  CHECK(executable(p).call<double>(3.0) == 120.0);
  CHECK(run(context, both, 3.0) == 120.0);
}
TEST_CASE("hooks for native functions observe their calls in programs") {
  check_same<double>([] { return listener{}; }, prints, 2.0);
  check_same<double>([] { return listener{}; }, in_regions, array<double>{1.0, 2.5, -3.0});
  check_same<double>([] { return listener{}; }, scales, array<double>{1.0, 7.0}, i64{3});
  check_same<double>([] { return impure_listener{}; }, prints, 2.0);
}
TEST_CASE("programs are evaluated in contexts with hooks for native functions") {
  ir::program const p = stage(prints, signature<double>);
  auto const evaluated = fn<"evaluated">([&p](auto x) { return evaluate<double>(p, x); });
  auto mock = contexts::mock(lookup, [](auto x) { return x * 10.0; });
  CHECK(run(mock, evaluated, 2.0) == run(mock, prints, 2.0));
  listener direct, in_program;
  CHECK(run(direct, prints, 2.0) == run(in_program, evaluated, 2.0));
  CHECK(direct.said == in_program.said);
}
