// Long mode: its contexts take a compiler minutes.
// Rules and hooks of control primitives that are declared for a type: the same in direct runs, staged, and for a program that was staged
// before.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/evaluate.hpp>

#include <concepts>
#include <exception>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace overdub;

std::vector<std::string> seen;

template <class X>
std::string text(X const& x) {
  if constexpr (requires { x.size(); }) {
    std::string all = "[";
    for (auto const& each : x) all += ' ' + text(each);
    return all + " ]";
  } else
    return std::to_string(static_cast<int>(x));
}
void note(std::string event, auto const&... x) {
  ((event += ' ' + text(x)), ...);
  seen.push_back(event);
}

// ---- functions

inline constexpr auto doubled = fn<"doubled">([](auto x) {
  auto const r = loop(i64{3}, x, [](auto, auto y) { return y * 2.0; });
  return if_(
      r > 5.0, [&] { return r + 1.0; }, [&] { return r - 1.0; });
});
inline constexpr auto grown = fn<"grown">([](auto x) {
  return while_(
      x, [](auto y) { return y < 10.0; }, [](auto y) { return y * 2.0; });
});
inline constexpr auto tabulated = fn<"tabulated">([](scope auto& cx, auto x) {
  auto const a = cx(tabulate, i64{3}, [&](auto i) { return convert<double>(i) * x; });
  auto const b = loop(i64{2}, a, [](auto i, auto xs) { return update(xs, i, 7.0); });
  auto const c = if_(
      x > 0.0, [&] { return b; }, [&] { return a; });
  return reduce(overdub::max, c);
});
inline constexpr auto tabulated_to = fn<"tabulated_to">([](auto x) {
  auto const a = tabulate(convert<i64>(x), [](auto i) { return convert<double>(i); });
  return reduce(overdub::max, 0.5, a);
});
inline constexpr auto swapped = fn<"swapped">([](auto x) {
  auto const last = loop(i64{2}, std::tuple{x, x}, [](auto, auto s) {
    auto const [a, b] = s;
    return std::tuple{b + 1.0, a * 2.0};
  });
  return std::get<0>(last) - std::get<1>(last);
});
inline constexpr auto half = leaf<"half">(
    [](double x) {
      if (x > 20.0) throw std::domain_error("too large");
      return 0.5 * x;
    },
    effects::may_fail);
inline constexpr auto fails = fn<"fails">([](auto x) {
  return loop(i64{4}, x, [](auto, auto y) {
    return if_(
        y > 4.0, [&] { return half(y * 4.0); }, [&] { return y * 1.5; });
  });
});

// ---- contexts

template <class X>
concept real = std::same_as < plain_t<X>,
double > ;

struct observes_numbers : context {
  void before(loop_t, i64 n, double state, auto const&) { note("before loop", n, state); }
  void after(loop_t, double result, i64, double, auto const&) { note("after loop", result); }
  void before(while_t, double state, auto const&, auto const&) { note("before while", state); }
  void after(while_t, double result, double, auto const&, auto const&) { note("after while", result); }
  void after(if_t, double result, bool, auto const&...) { note("after if", result); }
};
struct observes_arrays : context {
  void before(loop_t, i64 n, array<double> const& state, auto const&) { note("before loop", n, state); }
  void after(if_t, array<double> const& result, bool, auto const&...) { note("after if", result); }
  void after(tabulate_t, array<double> const& result, i64, auto const&) { note("after tabulate", result); }
};
struct observes_one_of_two : context {
  void before(loop_t, i64, double state, auto const&) { note("before loop of a number", state); }
  void before(loop_t, i64, array<double> const& state, auto const&) {
    note("before loop of an array", state);
  }
  void before(control auto f, auto const&...) { note("before " + std::string(f.name())); }
};
struct observes_failures : context {
  void failed(loop_t, std::exception_ptr, i64, double state, auto const&) { note("failed loop", state); }
  void failed(if_t, std::exception_ptr, bool condition, auto const&...) { note("failed if", condition); }
};
struct steps_once_more : context {
  template <real X>
  auto overdub(loop_t loop, auto n, X state, auto body) {
    return loop(n, body(n, state), body);
  }
  template <real X>
  auto overdub(while_t loop, X state, auto condition, auto body) {
    return loop(body(state), condition, body);
  }
};
// Decides by the type of the loop-carried value.
struct adds_to_numbers : context {
  template <class X>
  auto overdub(loop_t loop, auto n, X state, auto body) {
    if constexpr (real<X>)
      return loop(n, state + 1.0, body) - 0.5;
    else
      return loop(n, state, body);
  }
  auto overdub(if_t branch, auto condition, auto then, auto otherwise) {
    if constexpr (real<decltype(then())>)
      return branch(condition, then, otherwise) * 2.0;
    else
      return branch(!condition, then, otherwise);
  }
};
struct observes_trees : context {
  void before(loop_t, i64, std::tuple<double, double> const& state, auto const&) {
    note("before loop", std::get<0>(state), std::get<1>(state));
  }
};
struct observes_all_loops : context {
  void before(loop_t, i64 n, auto const& state, auto const&) {
    if constexpr (requires {
                    static_cast<bool>(state);
                    state.visit([](auto const&) {});
                  })
      note(state ? "before loop of a value" : "before loop of several values", n);
    else
      note("before loop of a C++ value", n);
  }
};

struct observes_lengths : context {
  void after(control auto f, auto const& result, auto const&...) {
    note("after " + std::string(f.name()), length_of(result));
  }

private:
  template <class X>
  static i64 length_of(X const& x) {
    if constexpr (requires { x.visit([](auto const&) {}); })
      return x ? x.visit([](auto const& held) { return length_of(held); }) : -1;
    else if constexpr (requires { x.size(); })
      return x.size();
    else
      return 0;
  }
};

// ---- executors

struct outcome {
  double value;
  std::vector<std::string> events;
  bool operator==(outcome const&) const = default;
};
outcome of(auto const& run) {
  seen.clear();
  double value = -1;
  try {
    value = run();
  } catch (std::domain_error const&) {
  }
  return {value, seen};
}

// `staged` is the number of times that events are staged: in a program that was staged before, contexts have hooks and rules for values of
// all types.
template <class Context, class F>
outcome same_in_all_ways(F const& f, double x) {
  ir::program const before = stage(f, signature<double>);
  outcome const direct = of([&] {
    Context c;
    return run(c, f, x);
  });
  CHECK(of([&] {
          Context c;
          return executable(stage(c, f, signature<double>)).template call<double>(x);
        }) == direct);
  CHECK(of([&] {
          Context c;
          return executable(overdub::overdub(c, before)).template call<double>(x);
        }) == direct);
  CHECK(of([&] {
          Context c;
          return evaluate<double>(overdub::overdub(c, before), x);
        }) == direct);
  static ir::program const* evaluated;
  evaluated = &before;
  CHECK(of([&] {
          Context c;
          return run(
              c, [](auto y) { return evaluate<double>(*evaluated, y); }, x);
        }) == direct);
  return direct;
}
using events = std::vector<std::string>;

} // namespace

TEST_CASE("hooks of control that are declared for numbers observe programs of numbers") {
  CHECK(
      same_in_all_ways<observes_numbers>(doubled, 3.0) ==
      outcome{25.0, {"before loop 3 3", "after loop 24", "after if 25"}});
  CHECK(
      same_in_all_ways<observes_numbers>(grown, 3.0) == outcome{12.0, {"before while 3", "after while 12"}});
  CHECK(same_in_all_ways<observes_numbers>(tabulated, 3.0) == outcome{7.0, {}});
  CHECK(same_in_all_ways<observes_numbers>(swapped, 3.0) == outcome{-1.0, {}});
}
TEST_CASE("hooks of control that are declared for arrays observe programs of arrays") {
  CHECK(same_in_all_ways<observes_arrays>(doubled, 3.0) == outcome{25.0, {}});
  CHECK(
      same_in_all_ways<observes_arrays>(tabulated, 3.0) ==
      outcome{7.0, {"after tabulate [ 0 3 6 ]", "before loop 2 [ 0 3 6 ]", "after if [ 7 7 6 ]"}});
}
TEST_CASE("the hook for the type of the value observes a loop of a program") {
  CHECK(
      same_in_all_ways<observes_one_of_two>(doubled, 3.0) ==
      outcome{25.0, {"before loop of a number 3", "before if"}});
  CHECK(
      same_in_all_ways<observes_one_of_two>(tabulated, 3.0) ==
      outcome{7.0, {"before tabulate", "before loop of an array [ 0 3 6 ]", "before if", "before reduce"}});
}
TEST_CASE("hooks of control that are declared for numbers observe failures") {
  CHECK(same_in_all_ways<observes_failures>(fails, 8.0) == outcome{-1.0, {"failed if 1", "failed loop 8"}});
  CHECK(same_in_all_ways<observes_failures>(fails, 0.5).events.empty());
}
TEST_CASE("rules of control that are constrained to numbers apply to programs of numbers") {
  CHECK(same_in_all_ways<steps_once_more>(doubled, 3.0) == outcome{49.0, {}});
  CHECK(same_in_all_ways<steps_once_more>(grown, 6.0) == outcome{12.0, {}});
  CHECK(same_in_all_ways<steps_once_more>(tabulated, 3.0) == outcome{7.0, {}});
  CHECK(same_in_all_ways<steps_once_more>(swapped, 3.0) == outcome{-1.0, {}});
}
TEST_CASE("rules of control that decide by types decide the same for programs") {
  CHECK(same_in_all_ways<adds_to_numbers>(doubled, 3.0) == outcome{65.0, {}});
  CHECK(same_in_all_ways<adds_to_numbers>(tabulated, 3.0) == outcome{6.0, {}});
  CHECK(same_in_all_ways<adds_to_numbers>(swapped, 3.0) == outcome{-1.0, {}});
}
TEST_CASE("a hook of control for a tree is rejected if a program has several values") {
  observes_trees c;
  CHECK(of([&] { return run(c, swapped, 3.0); }).events == events{"before loop 3 3"});
  ir::program const before = stage(swapped, signature<double>);
  CHECK_THROWS_WITH(
      overdub::overdub(c, before), "overdub: a context has a hook for `loop` that takes a tree, such as a "
                                   "tuple, and the program has one with several "
                                   "values, which hooks do not receive there; stage the function of C++ in "
                                   "the context, or declare the parameter `auto const&`");
  CHECK(same_in_all_ways<observes_trees>(doubled, 3.0) == outcome{25.0, {}});
}
TEST_CASE("hooks receive an empty array of a program") {
  CHECK(
      same_in_all_ways<observes_lengths>(tabulated_to, 0.0) ==
      outcome{0.5, {"after tabulate 0", "after reduce 0"}});
  CHECK(
      same_in_all_ways<observes_lengths>(tabulated_to, 3.0) ==
      outcome{2.0, {"after tabulate 3", "after reduce 0"}});
}
TEST_CASE("hooks receive an empty value instead of several values of a program") {
  observes_all_loops c;
  ir::program const rewritten = overdub::overdub(c, stage(swapped, signature<double>));
  CHECK(of([&] {
          return executable(rewritten).call<double>(3.0);
        }).events == events{"before loop of several values 2"});
  static ir::program const program = stage(swapped, signature<double>);
  CHECK(of([&] {
          return run(
              c, [](auto x) { return evaluate<double>(program, x); }, 3.0);
        }).events == events{"before loop of several values 2"});
}
