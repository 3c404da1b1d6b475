// The growth law: the work for each operation, element, span, entry or context does not depend on their number, up to a hundred times
// as many. A quadratic part of one basic block for each pair would be detected.
#include "catch.hpp"
#include "growth/check_each.hpp"

#include <overdub/compile/cache.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/incremental.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/overdub.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>
#include <overdub/stage/stage.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
namespace oc = overdub::contexts;
using growth::check_each;
using growth::few;
using growth::many;
using growth::some;
using growth::work_of;
using od::i64;

// ---- programs of n operations

i64 operations = 0;

constexpr auto chain = od::fn<"chain">([](auto x) {
  auto s = x;
  for (i64 i = 0; i < operations; i += 2) s = s * x + 0.5;
  return s;
});
// Sixty values that are live at once, and elementary functions.
constexpr auto ring = od::fn<"ring">([](auto x) {
  std::deque<decltype(x * 1.0)> live;
  for (int i = 0; i < 60; ++i) live.push_back(x * (1.0 + i));
  for (i64 i = 0; i < operations; i += 3) {
    live.push_back(sin(live[0]) * live[17] + live[40]);
    live.pop_front();
  }
  auto s = live[0];
  for (int i = 1; i < 60; ++i) s = s + live[static_cast<std::size_t>(i)];
  return s;
});
// Consecutive branches and loops that use values from outside of their regions.
constexpr auto regions = od::fn<"regions">([](auto x) {
  auto s = x;
  for (i64 i = 0; i < operations; i += 6) {
    auto const branch = od::if_(
        s < x, [&] { return s * x; }, [&] { return s + 0.25; });
    s = od::loop(i64{2}, branch, [&](auto, auto t) { return t * 0.5 + x; });
  }
  return s;
});
constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
constexpr auto calls = od::fn<"calls">([](auto x) {
  auto s = x;
  for (i64 i = 0; i < operations; i += 2) s = square(s) + x;
  return s;
});

/// The work of each stage, for a program of n operations.
struct costs {
  double staging, passes, printing, parsing, lowering, interpreting, reverse, forward;
};
template <class F>
costs costs_of(F const& f, i64 n) {
  costs all{};
  operations = n;
  od::ir::program p;
  all.staging = work_of([&] { p = od::stage(f, od::signature<double>); });
  std::string text;
  all.printing = work_of([&] { text = od::ir::print(p); });
  all.parsing = work_of([&] { (void)od::ir::parse(text); });
  all.forward = work_of([&] { (void)od::forward_of(p); });
  od::ir::program backwards = p;
  od::gradient_request wanted;
  wanted.inputs = wanted.results = {true};
  all.reverse = work_of([&] { (void)od::add_gradient(backwards, backwards.entry, wanted, {}); });
  all.passes = work_of([&] { od::pass::default_pipeline(p); });
  std::unique_ptr<od::executable> run;
  all.lowering = work_of([&] { run = std::make_unique<od::executable>(p); });
  all.interpreting = work_of([&] { (void)run->call<double>(0.5); });
  return all;
}
template <class F>
void check_programs(F const& f) {
  INFO(F::name());
  costs const small = costs_of(f, few), medium = costs_of(f, some), large = costs_of(f, many);
  check_each("staging", small.staging, medium.staging, large.staging);
  check_each("passes", small.passes, medium.passes, large.passes);
  check_each("print", small.printing, medium.printing, large.printing);
  check_each("parse", small.parsing, medium.parsing, large.parsing);
  check_each("lowering for the interpreter", small.lowering, medium.lowering, large.lowering);
  check_each("interpreting", small.interpreting, medium.interpreting, large.interpreting);
  check_each("reverse", small.reverse, medium.reverse, large.reverse);
  check_each("forward", small.forward, medium.forward, large.forward);
}

// ---- arrays of n elements

od::array<double> numbers(i64 n) {
  std::vector<double> x;
  for (i64 i = 0; i < n; ++i) x.push_back(static_cast<double>(i * 37 % 101) / 8);
  return od::array<double>::copy_of(x);
}
od::array<i64> others(i64 n) {
  std::vector<i64> x;
  for (i64 i = 0; i < n; ++i) x.push_back(i * 7919 % n);
  return od::array<i64>::copy_of(x);
}

constexpr auto sum_of_squares =
    od::fn<"sum_of_squares">([](auto xs) { return od::sum(od::map([](auto x) { return x * x; }, xs)); });
constexpr auto largest = od::fn<"largest">(
    [](auto xs) { return od::reduce(od::max, od::map([](auto x) { return x * 0.5; }, xs)); });
constexpr auto gathered = od::fn<"gathered">(
    [](auto xs, auto at) { return od::sum(od::map([&](auto i) { return xs[i] * xs[i]; }, at)); });
// The effect of a change vanishes after some iterations.
constexpr auto decaying = od::fn<"decaying">([](auto xs) {
  return od::loop(od::size(xs), 0.0, [&](auto i, auto s) { return od::floor(s * 0.5 + xs[i]); });
});

/// The work of an update of one element among n, and of rolling it back.
template <class F, class... A>
double work_of_update(F const& f, i64 n, A const&... more) {
  auto g = od::incremental(f, numbers(n), more...);
  auto const update = [&](i64 k) {
    g.template set_at<0>(
        n / 202 * 101 + k * 7, 0.125 * static_cast<double>(k % 8)); // at corresponding elements for each n
    g.propose();
    k % 2 == 0 ? g.commit() : g.rollback();
  };
  for (i64 k = 0; k < 40; ++k) update(k); // update programs are made, and the cost model decides
  return work_of([&] {
    for (i64 k = 0; k < 40; ++k) update(k + 1);
  });
}
/// The work of an update of one element does not depend on the number of elements, but for the depth of a tree.
void check_updates(char const* what, auto const& work_among, double most) {
  double const small = work_among(i64{600}), large = work_among(i64{60'000});
  INFO(what << ": " << small << " blocks among 600, " << large << " among 60,000");
  CHECK(large <= most * small);
}

// ---- stacked contexts

template <int>
struct counter : od::context {
  i64 calls = 0;
  void before(od::callee auto, auto const&...) { ++calls; }
};
template <int>
struct rule : od::context { // recurses in the inner contexts
  auto overdub(od::sin_t f, auto x) { return f(x); }
};
constexpr auto formula = od::fn<"formula">([](auto x) {
  auto const a = sin(x) * x + 1.0;
  return a / (1.0 + square(a) * x);
});

template <template <int> class C, int... I>
double work_in(std::integer_sequence<int, I...>) {
  auto contexts = od::compose(C<I>{}...);
  return work_of([&] {
    for (int k = 0; k < 10; ++k) (void)od::run(contexts, formula, 0.5);
  });
}
// Runs in 1, ..., 6 contexts.
template <template <int> class C>
std::array<double, 6> work_in_contexts() {
  return [&]<int... D>(std::integer_sequence<int, D...>) {
    return std::array<double, 6>{work_in<C>(std::make_integer_sequence<int, D + 1>{})...};
  }
  (std::make_integer_sequence<int, 6>{});
}
template <template <int> class C, int... I>
double size_in(std::integer_sequence<int, I...>) {
  auto contexts = od::compose(C<I>{}...);
  od::ir::program const p = od::stage(contexts, formula, od::signature<double>);
  double count = 0;
  for (auto const& f : p.functions) count += f.node_count();
  return count;
}
template <template <int> class C>
std::array<double, 6> sizes_in_contexts() {
  return [&]<int... D>(std::integer_sequence<int, D...>) {
    return std::array<double, 6>{size_in<C>(std::make_integer_sequence<int, D + 1>{})...};
  }
  (std::make_integer_sequence<int, 6>{});
}
/// The cost of each further context is that of the second one; a little more without optimisation, which copies the contexts.
void check_linear(char const* what, std::array<double, 6> const& costs) {
  constexpr double most = 1.25;
  double const step = std::max(costs[1] - costs[0], 1.0);
  for (std::size_t depth = 2; depth < costs.size(); ++depth) {
    INFO(
        what << ": " << depth + 1 << " contexts cost " << costs[depth] << ", one " << costs[0] << ", two "
             << costs[1]);
    CHECK(costs[depth] - costs[depth - 1] <= most * step);
  }
}

} // namespace

TEST_CASE(
    "the work of staging, passes, derivatives, texts and the interpreter is linear in the number of "
    "operations",
    "[programs]") {
  check_programs(chain);
  check_programs(ring);
  check_programs(regions);
  check_programs(calls);
}

// Each array takes the value of the previous one, so that each round of the induction invalidates the shape of one more array.
TEST_CASE(
    "the work of inferring shapes is linear in the number of loop-carried arrays and of lengths",
    "[programs]") {
  auto const shapes_of = [](i64 arrays) {
    auto const list = [&](std::string const& before, std::string const& between, std::string const& after) {
      std::string all;
      for (i64 i = 0; i < arrays; ++i) all += (i == 0 ? "" : between) + before + std::to_string(i) + after;
      return all;
    };
    std::string text = "entry @main\nfunc @main(%x: f64[]) -> f64[] {\n  " + list("%r", ", ", "") +
                       " = loop 3 (%t: i64, " + list("%a", ", ", ": f64[] = %x") + ") -> (f64[]";
    for (i64 i = 1; i < arrays; ++i) text += ", f64[]";
    text += ") {\n    %n0 = length %x : i64\n";
    for (i64 i = 1; i < arrays; ++i)
      text += "    %n" + std::to_string(i) + " = add %n" + std::to_string(i - 1) + ", 1 : i64\n";
    text += "    %last = fill %n" + std::to_string(arrays - 1) + ", 0.0 : f64[]\n    yield %last";
    for (i64 i = 1; i < arrays; ++i) text += ", %a" + std::to_string(i - 1);
    od::ir::program const p = od::ir::parse(text + "\n  }\n  return %r0\n}");
    return work_of([&] { od::ir::shapes const found(p[p.entry]); });
  };
  check_each("an array and a length", shapes_of);
}

TEST_CASE("the work of an update of one element does not depend on the length of the array", "[updates]") {
  check_updates(
      "sum", [](i64 n) { return work_of_update(sum_of_squares, n); }, 1.1);
  check_updates(
      "gather", [](i64 n) { return work_of_update(gathered, n, others(n)); }, 1.2);
  check_updates(
      "loop", [](i64 n) { return work_of_update(decaying, n); }, 1.2);
  check_updates(
      "tree", [](i64 n) { return work_of_update(largest, n); }, 3);
}

TEST_CASE("the work of recording and writing spans is linear in their number", "[traces]") {
  auto const record = [](i64 n) {
    for (i64 i = 0; i < n; ++i) (void)od::run(oc::trace{}, square, 2.0);
  };
  auto const recording = [&](i64 n) {
    oc::recording all(1 << 14);
    return work_of([&] { record(n); });
  };
  check_each("recording", recording);
  for (auto const format :
       {oc::trace_format::perfetto, oc::trace_format::chrome, oc::trace_format::speedscope}) {
    auto const writing = [&](i64 n) {
      oc::recording all(1 << 14);
      record(n);
      all.stop();
      return work_of([&] { (void)all.text(format); });
    };
    check_each("writing", writing);
  }
}

TEST_CASE(
    "the work of finding, storing and evicting a cache entry does not depend on the number of entries",
    "[caches]") {
  static char const types = 0;
  auto const made = std::make_shared<od::artifact const>(
      od::recipe{.name = "f", .staged = od::ir::parse("entry @f\nfunc @f() -> f64 { return 1.0 }")});
  struct work {
    double filling, finding, dropping;
  };
  auto const with = [&](i64 n) {
    od::compilation_cache cache({.entries = 1'000'000});
    auto const get = [&](i64 first) {
      for (i64 k = 0; k < n; ++k)
        (void)cache.get(
            {&types, std::to_string(1'000'000 + first + k * 7919 % n)}, "f", [&] { return made; });
    };
    work all{};
    all.filling = work_of([&] { get(0); });
    all.finding = work_of([&] { get(0); });
    cache.set_limits({.entries = static_cast<std::size_t>(n)});
    all.dropping = work_of([&] { get(n); });
    CHECK(cache.statistics().evictions == static_cast<std::uint64_t>(n));
    return all;
  };
  work const small = with(few), medium = with(some), large = with(many);
  check_each("filling", small.filling, medium.filling, large.filling, 1.2);
  check_each("finding", small.finding, medium.finding, large.finding, 1.2);
  check_each(
      "dropping", small.dropping, medium.dropping, large.dropping, 2.5); // the logarithm of their number
}

TEST_CASE("the cost of a further context is constant, from one to six contexts", "[contexts]") {
  check_linear("a run in contexts that count", work_in_contexts<counter>());
  check_linear("a run in contexts with a rule", work_in_contexts<rule>());
  check_linear("operations staged in contexts with a rule", sizes_in_contexts<rule>());
  check_linear("operations staged in contexts that count", sizes_in_contexts<counter>());
}

TEST_CASE(
    "the work of a call through the scope does not depend on the depth of a recursion, also in checked "
    "builds",
    "[contexts]") {
  auto const calls = [](i64 n) {
    auto const down = od::fn<"down">(
        [](od::scope auto& cx, auto k) -> decltype(k) { return k > 0 ? cx.self(k - 1) + 1 : k; });
    counter<0> c;
    return work_of([&] {
      for (int k = 0; k < 2; ++k) (void)od::run(c, down, n);
    });
  };
  check_each("a call through the scope", calls);
}
