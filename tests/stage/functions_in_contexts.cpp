// Long mode: its contexts take a compiler minutes.
// Functions of programs are callees: rules, hooks and `enter` apply to their calls as to those of functions of C++, on all executors.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>

#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

inline constexpr auto square = fn<"square">([](auto x) { return x * x; });
inline constexpr auto cube = fn<"cube">([](auto x) { return x * square(x); });
// Each call depends on the previous one, so that their order is unique.
inline constexpr auto norm = fn<"norm">([](auto x, auto y) { return overdub::sqrt(square(square(x) + y)); });
inline constexpr auto main_function =
    fn<"main_function">([](auto x, auto y) { return square(norm(cube(x), y) - y); });
// Functions that take the scope: one without arguments, and a recursive one.
inline constexpr auto offset = fn<"offset">([](scope auto& cx) { return cx.lift(7.0) * 2.0; });
inline constexpr auto factorial = fn<"factorial">([](scope auto& cx, auto n) -> decltype(n) {
  return if_(
      n < 1.5, [&] { return n * 1.0; },
      [&] {
        auto const rest = cx.self(n - 1.0);
        return n * rest;
      });
});
inline constexpr auto with_scopes = fn<"with_scopes">([](scope auto& cx, auto x, auto y) {
  auto const z = factorial(y + 2.0);
  return x * z - cx(offset);
});

// Names with dots, and a side effect.
inline constexpr auto note = leaf<"note">([](double) {});
inline constexpr auto layer = fn<"model.layer">([](auto x) { return x + 1.0; });
inline constexpr auto model = fn<"model">([](auto x, auto y) {
  note(x);
  return layer(x) * y;
});

std::string text_of_number(double x) { return io::number_text(x); }

// Events: the callee, its numbers, and its result.
struct recording {
  std::vector<std::string> events;
  void put(std::string_view what, std::string_view f, auto const&... x) {
    std::string line(what);
    line.append(1, ' ').append(f);
    ((line += ' ' + text_of_number(static_cast<double>(x))), ...);
    events.push_back(line);
  }
};
struct observes_all : context, recording {
  static constexpr std::string_view name = "observes_all";
  void before(function auto f, auto const&... x) { put("before", f.name(), x...); }
  void after(function auto f, auto const& result, auto const&... x) { put("after", f.name(), result, x...); }
};
struct observes_by_type : context, recording {
  static constexpr std::string_view name = "observes_by_type";
  template <function F>
  void before(F, auto const&... x) {
    put("before", F::name(), x...);
  }
};
struct observes_square : context, recording {
  void before(decltype(square), double x) { put("before", "square", x); }
  void after(decltype(square), double result, double x) { put("after", "square", result, x); }
};
struct observes_two : context, recording {
  void before(decltype(square), auto const&... x) { put("before", "square", x...); }
  void before(decltype(cube), auto const&... x) { put("before", "cube", x...); }
  void after(decltype(norm), double result, auto const&... x) { put("after", "norm", result, x...); }
};
struct replaces_square : context, recording {
  auto overdub(decltype(square), auto x) { return 3.0 * x; }
};
struct replaces_two : context, recording {
  auto overdub(decltype(square), auto x) { return x + 1.0; }
  auto overdub(decltype(norm), auto x, auto y) { return x - y; }
  void before(function auto f, auto const&... x) { put("before", f.name(), x...); }
};
struct replaces_all : context, recording {
  template <rule_call Call, function F, class... X>
  recurse_t<Call, F, X...> overdub(Call call, F, X... x) {
    return call.recurse(x...) * 2.0;
  }
};
struct goes_on : context, recording {
  template <rule_call Call>
  auto overdub(Call call, decltype(square), auto x) {
    return call.recurse(x) + 1.0;
  }
  void before(mul_t, auto x, auto y) { put("before", "mul", x, y); }
};
struct leaves_norm : context, recording {
  auto enter(decltype(norm)) const { return leave; }
  void before(arithmetic auto f, auto const&... x) { put("before", f.name(), x...); }
};
struct deeper : context, recording {
  struct inside : context {
    recording* to = nullptr;
    void before(arithmetic auto f, auto const&... x) { to->put("inside", f.name(), x...); }
  };
  inside in;
  inside& enter(decltype(cube)) {
    in.to = this;
    return in;
  }
  void before(arithmetic auto f, auto const&... x) { put("outside", f.name(), x...); }
};
struct observes_other : context, recording {
  void before(decltype(fn<"other">([](auto x) { return x; })), auto const&...) { put("before", "other"); }
  auto overdub(sin_t, auto x) { return overdub::cos(x); }
};
struct observes_scopes : context, recording {
  void before(decltype(offset)) { put("before", "offset"); }
  void after(decltype(offset), double result) { put("after", "offset", result); }
  void before(decltype(factorial), double n) { put("before", "factorial", n); }
};
struct replaces_offset : context, recording {
  auto overdub(rule_call auto call, decltype(offset)) { return call.lift(3.0); }
};
struct goes_on_in_factorial : context, recording {
  template <rule_call Call, class X>
  recurse_t<Call, decltype(factorial), X> overdub(Call call, decltype(factorial), X n) {
    return call.recurse(n) + 1.0;
  }
  void before(sub_t, auto x, auto y) { put("before", "sub", x, y); }
};

// The value and the events, one on each line.
template <class C>
std::string outcome(double value, C& c) {
  std::string all = text_of_number(value);
  for (std::string const& e : std::exchange(c.events, {})) all += '\n' + e;
  return all;
}
template <class C>
std::string run_program(C& c, ir::program const& p) {
  double const value = executable(p).call<double>(1.5, 2.0);
  return outcome(value, c);
}
template <class C, function F = std::remove_const_t<decltype(main_function)>>
std::string run_directly(F const& f = main_function) {
  C c;
  double const value = overdub::run(c, f, 1.5, 2.0);
  return outcome(value, c);
}
// Programs are evaluated in some of the contexts only: each takes ten seconds to compile.
template <class C>
inline constexpr bool is_evaluated = std::is_same_v<C, observes_two> || std::is_same_v<C, replaces_two> ||
                                     std::is_same_v<C, deeper> || std::is_same_v<C, goes_on_in_factorial>;

template <class C, function F = std::remove_const_t<decltype(main_function)>>
void same_in_all_ways(F const& f = main_function) {
  std::string const expected = run_directly<C>(f);
  ir::program const p = stage(f, signature<double, double>);
  ir::program parsed = ir::parse(ir::print(p));
  for (ir::host_binding const& h : p.hosts) {
    parsed.hosts.push_back(h);
    parsed.hosts.back().name = parsed.intern(p.text(h.name));
  }
  C staged, rewritten, from_text;
  CHECK(run_program(staged, stage(staged, f, signature<double, double>)) == expected);
  CHECK(run_program(rewritten, overdub::overdub(rewritten, p)) == expected);
  CHECK(run_program(from_text, overdub::overdub(from_text, parsed)) == expected);
  if constexpr (is_evaluated<C>) {
    C evaluated;
    double const value = overdub::run(
        evaluated, [&](auto x, auto y) { return evaluate<double>(p, x, y); }, 1.5, 2.0);
    CHECK(outcome(value, evaluated) == expected);
  }
}

} // namespace

TEST_CASE("hooks observe the functions of programs") {
  same_in_all_ways<observes_all>();
  same_in_all_ways<observes_by_type>();
  same_in_all_ways<observes_square>();
  same_in_all_ways<observes_two>();
  same_in_all_ways<observes_other>();
  CHECK(
      run_directly<observes_two>() ==
      "129.746337890625\nbefore cube 1.5\nbefore square 1.5\nbefore square 3.375\nbefore square 13.390625\n"
      "after norm 13.390625 3.375 2\nbefore square 11.390625");
}

TEST_CASE("rules apply to functions of programs") {
  same_in_all_ways<replaces_square>();
  same_in_all_ways<replaces_two>();
  same_in_all_ways<replaces_all>();
  same_in_all_ways<goes_on>();
  CHECK(run_directly<replaces_square>() != run_directly<observes_all>());
}

TEST_CASE("enter applies to functions of programs") {
  same_in_all_ways<leaves_norm>();
  same_in_all_ways<deeper>();
}

TEST_CASE("contexts intercept functions of programs with the scope, without arguments, and recursive ones") {
  same_in_all_ways<observes_all>(with_scopes);
  same_in_all_ways<observes_scopes>(with_scopes);
  same_in_all_ways<replaces_offset>(with_scopes);
  same_in_all_ways<goes_on_in_factorial>(with_scopes);
  CHECK(run_directly<replaces_offset>(with_scopes) == "33");
  CHECK(
      run_directly<observes_scopes>(with_scopes).starts_with("22\nbefore factorial 4\nbefore factorial 3\n"));
}

TEST_CASE("hooks observe a function with effects that calls one whose name is a prefix of its own") {
  same_in_all_ways<observes_all>(model);
}
