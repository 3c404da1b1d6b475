// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// Rules and hooks for reduce that name the operation that combines elements: values and events are the same on all executors.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/evaluate.hpp>

#include <concepts>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

inline constexpr auto summed = fn<"summed">([](auto xs) { return sum(xs); });
inline constexpr auto largest = fn<"largest">([](auto xs) { return reduce(max, xs); });
inline constexpr auto product = fn<"product">([](auto xs) { return reduce(mul, xs[i64{1}], xs); });
inline constexpr auto own =
    fn<"own">([](auto xs) { return reduce([](auto const& x, auto const& y) { return x - y; }, xs); });

struct max_is_negated : context {
  template <std::same_as<max_t> F>
  auto overdub(reduce_t reduce, F const& f, auto const&... x) {
    return -reduce(f, x...);
  }
};
struct chooses_in_body : context {
  template <class F>
  auto overdub(reduce_t reduce, F const& f, auto const&... x) {
    if constexpr (std::same_as<F, mul_t>)
      return reduce(add, x...);
    else
      return reduce(f, x...);
  }
};
template <class Operation>
struct names : context {
  std::vector<std::string> events;
  void before(reduce_t, Operation f, auto const&...) { events.emplace_back(f.name()); }
};
struct names_one_or_any : context {
  std::vector<std::string> events;
  void before(reduce_t, add_t, auto const&...) { events.emplace_back("a sum"); }
  void before(reduce_t, auto const& f, auto const&...) {
    if constexpr (callee<std::remove_cvref_t<decltype(f)>>)
      events.emplace_back(f.name());
    else
      events.emplace_back("other");
  }
};
struct after_of_result : context { // after(reduce, result, f, x...)
  std::vector<std::string> events;
  void after(reduce_t, auto const&, max_t, auto const&...) { events.emplace_back("after max"); }
  void before(max_t, auto, auto) { events.emplace_back("max"); }
};
struct goes_on : context {
  int calls = 0;
  auto overdub(reduce_t reduce, auto const& f, auto const&... x) {
    ++calls;
    return reduce(f, x...);
  }
};
struct max_is_min : context {
  auto overdub(max_t, auto x, auto y) { return overdub::min(x, y); }
};

struct outcome {
  double value;
  std::vector<std::string> events;
  bool operator==(outcome const&) const = default;
};
// Runs f in new contexts.
template <class... C, class Run>
outcome in(Run const& run) {
  std::tuple<C...> contexts;
  return std::apply(
      [&](C&... each) {
        auto composed = compose(each...);
        outcome o{run(composed), {}};
        auto const append = [&](auto& c) {
          if constexpr (requires { c.events; })
            o.events.insert(o.events.end(), c.events.begin(), c.events.end());
        };
        (append(each), ...);
        return o;
      },
      contexts);
}
template <class... C, class F>
outcome same_in_all_ways(F const& f) {
  static array<double> const xs{0.5, 6.0, 7.0};
  constexpr auto arguments = signature<array<double>>;
  ir::program const p = stage(f, arguments);
  outcome const direct = in<C...>([&](auto& c) { return overdub::run(c, f, xs); });
  INFO(F::name());
  auto const check = [&](char const* way, outcome const& o) {
    INFO(way);
    CHECK(o.value == direct.value);
    CHECK(o.events == direct.events);
  };
  check("staged", in<C...>([&](auto& c) { return evaluate<double>(stage(c, f, arguments), xs); }));
  check("rewritten", in<C...>([&](auto& c) { return evaluate<double>(overdub::overdub(c, p), xs); }));
  check("evaluated", in<C...>([&](auto& c) {
          return overdub::run(
              c, [&](auto x) { return evaluate<double>(p, x); }, xs);
        }));
  return direct;
}
template <class... C>
std::vector<outcome> same_for_each() {
  return {
      same_in_all_ways<C...>(summed), same_in_all_ways<C...>(largest), same_in_all_ways<C...>(product),
      same_in_all_ways<C...>(own)};
}

} // namespace

TEST_CASE("a rule for reductions by one operation applies to them in programs") {
  CHECK(same_for_each<max_is_negated>()[1].value == -7.0);
  CHECK(same_for_each<max_is_negated>()[0].value == 13.5);
  CHECK(same_for_each<chooses_in_body>()[2].value == 13.5 + 6.0);
}
TEST_CASE("a hook that names the operation of a reduction runs in programs") {
  CHECK(same_for_each<names_one_or_any>()[0].events == std::vector<std::string>{"a sum"});
  CHECK(same_for_each<after_of_result>()[1].events == std::vector<std::string>{"max", "max", "after max"});
}
TEST_CASE(
    "a context observes the operation of a reduction unless an outer context intercepts the operation") {
  CHECK(same_for_each<max_is_min, names<max_t>>()[1].events.empty());
}
TEST_CASE("a rule for all reductions applies inside of a context with metadata") {
  array<double> const xs{0.5, 6.0, 7.0}, along{1.0, 2.0, 4.0};
  goes_on inner;
  contexts::forward forward;
  auto const all = compose(forward, inner);
  auto const direct = overdub::run(all, largest, tag(xs, along));
  CHECK(direct.inner == 7.0);
  CHECK(direct.metadata == 4.0);
  int const calls = std::exchange(inner.calls, 0);
  CHECK(calls > 0);
  auto const rewritten = executable(overdub::overdub(all, stage(largest, signature<array<double>>)))
                             .call<std::tuple<double, double>>(xs, along);
  CHECK(rewritten == std::tuple(7.0, 4.0));
  CHECK(inner.calls > 0);
}
