// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// The identity of callees and contexts of a program: the C++ type of a function, whole names, and the objects of contexts.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>
#include <overdub/stage/stage.hpp>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

namespace one {
inline constexpr auto f = fn<"f">([](auto x) { return x + 1.0; });
}
namespace two {
inline constexpr auto f = fn<"f">([](auto x) { return x * 7.0; });
}
inline constexpr auto both = fn<"both">([](auto x) { return one::f(x) * two::f(x); });
struct rule_for_one : context {
  auto overdub(decltype(one::f), auto x) { return x * 0.0 + 100.0; }
};

inline constexpr auto layer = fn<"model.layer">([](auto x) { return x * x; });
inline constexpr auto model = fn<"model">([](auto x) { return layer(x) * 2.0; });
inline constexpr auto uses = fn<"uses">([](auto x) { return layer(x) + 2.0; });
struct rule_for_model : context {
  auto overdub(decltype(model), auto x) { return x * 100.0; }
};

// Functions that run in one of two contexts of a class.
struct inside : context {
  int calls = 0;
  void before(mul_t, auto const&...) { ++calls; }
};
inline constexpr auto square = fn<"square">([](auto x) { return x * x; });
inline constexpr auto first = fn<"first">([](auto x) { return square(x); });
inline constexpr auto second = fn<"second">([](auto x) { return square(x); });
inline constexpr auto each = fn<"each">([](auto x) { return first(x) + second(x); });
struct outside : context {
  inside a = {}, b = {};
  inside& enter(decltype(first)) { return a; }
  inside& enter(decltype(second)) { return b; }
};

// A context that enters another object of its class.
struct chained : context {
  chained* next = nullptr;
  int calls = 0;
  template <function F>
  chained& enter(F const&) {
    return next == nullptr ? *this : *next;
  }
  void before(mul_t, auto const&...) { ++calls; }
};
// Two contexts that enter one another.
struct ping;
struct pong : context {
  ping* other = nullptr;
  template <function F>
  ping& enter(F const&) {
    return *other;
  }
};
struct ping : context {
  pong* other = nullptr;
  template <function F>
  pong& enter(F const&) {
    return *other;
  }
  void before(mul_t, auto const&...) {}
};

// A member of a context that is passed by value.
struct listening_part : context {
  int calls = 0;
  void before(mul_t, auto const&...) { ++calls; }
};
struct middle : context {
  listening_part part = {};
  template <function F>
  listening_part& enter(F const&) {
    return part;
  }
};
struct top : context {
  int unused = 0;
  template <function F>
  middle enter(F const&) {
    return {};
  }
};

ir::program times(double k) {
  return ir::parse(
      "entry @main\nfunc @main(%x: f64) -> f64 { %y = call @f(%x) : f64 return %y }\n"
      "func @f(%x: f64) -> f64 { %y = mul %x, " +
      std::to_string(k) + " : f64 return %y }\n");
}

// Hooks of a fixed number of parameters.
struct two_arguments : context {
  int calls = 0;
  void before(decltype(one::f), auto const&, auto const&) { calls += 100; }
  void before(function auto, auto const&, auto const&) { ++calls; }
};
struct for_sines : context {
  void before(sin_t, auto const&...) {}
};
struct for_square : context {
  int calls = 0;
  void before(decltype(square), auto const&...) { ++calls; }
};
struct elsewhere : context {
  auto overdub(tan_t, auto x) { return x; }
};
struct observes_entry : context {
  int count = 0;
  void before(function auto f, auto const&...) { count += f.name() == "calls.elsewhere"; }
};
struct doubling : context {
  auto overdub(mul_t, auto x, auto y) { return x + y; }
};
// The overload that names a function has priority.
struct enters_some : context {
  template <function F>
  leave_t enter(F const&) {
    return leave;
  }
  doubling enter(decltype(square)) { return {}; }
};

struct rule_for_map : context {
  auto overdub(map_t, auto, auto xs) { return xs; }
};
struct rule_for_scan : context {
  auto overdub(rule_call auto call, scan_t, auto f, auto x, auto xs) { return call.recurse(f, x, xs); }
};
struct typed_hooks : context {
  int calls = 0;
  void before(function auto, array<double> const&, i64) { ++calls; }
};
struct listed_hooks : typed_hooks {
  using signatures = types<double(array<double>, i64)>;
};
inline constexpr auto weigh = fn<"weigh">([](auto xs, auto n) { return xs[n]; });
inline constexpr auto weighs = fn<"weighs">([](auto xs, auto n) { return weigh(xs, n) + 1.0; });

template <class Context, class F, class... X>
std::string refused(Context&& c, F const& f, types<X...> of) {
  try {
    (void)overdub::overdub(c, stage(f, of));
  } catch (error const& e) {
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("functions of one name are distinguished by their origins") {
  rule_for_one context;
  CHECK(run(context, both, 1.0) == 700.0);
  CHECK(executable(overdub::overdub(context, stage(both, signature<double>))).call<double>(1.0) == 700.0);
}
TEST_CASE("an entry that only calls another function remains the entry") {
  constexpr auto calls = fn<"calls">([](auto x) { return square(x); });
  elsewhere says_nothing;
  for_square observer;
  observes_entry entry;
  ir::program const p = overdub::overdub(says_nothing, stage(calls, signature<double>));
  CHECK(p.name_of(p.entry) == "calls.elsewhere");
  CHECK(executable(overdub::overdub(entry, p)).call<double>(3.0) == 9.0);
  CHECK(entry.count == 1);
  ir::program const q = overdub::overdub(observer, stage(calls, signature<double>));
  CHECK(q.name_of(q.entry) == "calls.for_square");
  CHECK(executable(q).call<double>(3.0) == 9.0);
  CHECK(observer.calls == 1);
}
TEST_CASE("a name with a dot is another name") {
  rule_for_model context;
  ir::program const p = stage(uses, signature<double>);
  for (ir::program const& q : {p, ir::parse(ir::print(p))})
    CHECK(executable(overdub::overdub(context, q)).call<double>(2.0) == run(context, uses, 2.0));
}
TEST_CASE("functions in different objects of one class of contexts are distinguished") {
  outside direct, staged, rewritten;
  (void)run(direct, each, 3.0);
  executable const p(stage(staged, each, signature<double>));
  executable const q(overdub::overdub(rewritten, stage(each, signature<double>)));
  CHECK(p.call<double>(3.0) == 18.0);
  CHECK(q.call<double>(3.0) == 18.0);
  for (outside const* o : {&direct, &staged, &rewritten}) {
    CHECK(o->a.calls == 1);
    CHECK(o->b.calls == 1);
  }
}
TEST_CASE("enter may return another object of its class") {
  chained last, start;
  start.next = &last;
  (void)run(start, each, 3.0);
  CHECK(start.calls == 0);
  CHECK(last.calls == 2);
  chained last_staged, start_staged;
  start_staged.next = &last_staged;
  executable const p(stage(start_staged, each, signature<double>));
  CHECK(p.call<double>(3.0) == 18.0);
  CHECK(last_staged.calls == last.calls);
}
TEST_CASE("infinite recursion in contexts that enter one another is an error") {
  ping a;
  pong b;
  a.other = &b;
  b.other = &a;
  ir::program const p = ir::parse(R"ir(
entry @down
func @down(%x: f64) -> f64 {
  %y = mul %x, 0.5 : f64
  %z = call @down(%y) : f64
  return %z
}
)ir");
  CHECK_THROWS_AS(
      run(
          a, [&](auto x) { return evaluate<double>(p, x); }, 1.0),
      stack_overflow);
}
TEST_CASE("hooks of a context that enter returns by value are rejected") {
  top context;
  std::string what;
  try {
    (void)stage(context, first, signature<double>);
  } catch (staging_error const& e) {
    what = e.what();
  }
  CHECK(what.find("`enter` returned by value") != std::string::npos);
}
TEST_CASE("programs at one address are distinguished") {
  auto const f = fn<"f">([](auto x) {
    auto y = x * 0.0;
    for (int k = 2; k < 4; ++k) {
      ir::program const p = times(k);
      y = y + evaluate<double>(p, x);
    }
    return y;
  });
  CHECK(run(rule_for_map{}, f, 2.0) == 10.0);
  CHECK(executable(stage(f, signature<double>)).call<double>(2.0) == 10.0);
}
namespace {
using count_maps = contexts::count_of<map_t, tabulate_t>;
struct three_arguments : context {
  void before(scan_t, auto const&, auto const&, auto const&) {}
};
} // namespace
TEST_CASE("a primitive that programs represent by another one is rejected where a context names it") {
  auto const doubles = fn<"doubles">([](auto xs) { return map([](auto x) { return x * 2.0; }, xs); });
  CHECK(refused(rule_for_map{}, doubles, signature<array<double>>).find("for `map`") != std::string::npos);
  CHECK(refused(rule_for_scan{}, doubles, signature<array<double>>).empty());
  auto const scans = fn<"scans">([](auto xs) {
    return std::get<1>(scan([](auto s, auto x) { return std::tuple{s + x, s * x}; }, 0.0, xs));
  });
  CHECK(refused(rule_for_scan{}, scans, signature<array<double>>).find("for `scan`") != std::string::npos);
  CHECK(
      refused(contexts::count_of<map_t>{}, doubles, signature<array<double>>).find("for `map`") !=
      std::string::npos);
  CHECK(refused(count_maps{}, doubles, signature<array<double>>).empty());
  CHECK(refused(contexts::count{}, doubles, signature<array<double>>).empty());
  CHECK(refused(three_arguments{}, scans, signature<array<double>>).find("for `scan`") != std::string::npos);
}
TEST_CASE("hooks with a fixed number of parameters observe calls in programs") {
  two_arguments direct, in_program;
  (void)run(direct, weighs, array<double>{1.0, 2.0}, i64{1});
  executable const p(overdub::overdub(in_program, stage(weighs, signature<array<double>, i64>)));
  (void)p.call<double>(array<double>{1.0, 2.0}, i64{1});
  CHECK(direct.calls == 2);
  CHECK(in_program.calls == 2);
}
TEST_CASE("hooks that name a function observe its derived functions of an outer context") {
  for_sines outer;
  for_square direct, staged, rewritten;
  (void)run(compose(outer, direct), each, 3.0);
  CHECK(direct.calls == 2);
  executable const p(stage(compose(outer, staged), each, signature<double>));
  executable const q(overdub::overdub(compose(outer, rewritten), stage(each, signature<double>)));
  CHECK(p.call<double>(3.0) == 18.0);
  CHECK(q.call<double>(3.0) == 18.0);
  CHECK(staged.calls == 2);
  CHECK(rewritten.calls == 2);
}
TEST_CASE("an enter that names a function is preferred to one for all functions") {
  enters_some context;
  CHECK(run(context, square, 3.0) == 6.0);
  ir::program const p = stage(square, signature<double>);
  CHECK(executable(overdub::overdub(context, p)).call<double>(3.0) == 6.0);
  for_sines outer;
  CHECK(run(compose(outer, context), square, 3.0) == 6.0);
}
TEST_CASE("hooks for other types than those of a call are rejected") {
  typed_hooks typed, direct;
  (void)run(direct, weighs, array<double>{1.0, 2.0}, i64{1});
  CHECK(direct.calls == 2);
  CHECK(
      refused(typed, weighs, signature<array<double>, i64>).find("a hook takes calls of @weigh") !=
      std::string::npos);
  listed_hooks listed;
  executable const p(overdub::overdub(listed, stage(weighs, signature<array<double>, i64>)));
  CHECK(p.call<double>(array<double>{1.0, 2.0}, i64{1}) == 3.0);
  CHECK(listed.calls == 2);
}
