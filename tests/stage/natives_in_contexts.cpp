// Long mode: its contexts take a compiler minutes.
// The contexts of the library, applied to native functions in programs.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/contexts/retry.hpp>
#include <overdub/contexts/slice.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/evaluate.hpp>

#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

namespace {

using namespace overdub;

double printed = 0;
int failures = 0;
inline constexpr auto print = leaf<"print">([](double x) { printed += x; });
inline constexpr auto lookup = leaf<"lookup">([](double x) { return x + 1.0; }, effects::pure);
inline constexpr auto other = leaf<"other">([](double x) { return x; });
inline constexpr auto flaky = leaf<"flaky">(
    [](double x) {
      if (failures > 0) {
        --failures;
        throw std::runtime_error("no answer");
      }
      return 2.0 * x;
    },
    effects::may_fail);

inline constexpr auto prints = fn<"prints">([](auto x) {
  print(x);
  return lookup(x) * x;
});
inline constexpr auto prints_other = fn<"prints_other">([](auto x) {
  print(x);
  return other(x) + 1.0;
});
inline constexpr auto asks = fn<"asks">([](auto x) { return flaky(x) + 1.0; });

std::string refused(auto&& context, auto const& f) {
  try {
    (void)overdub::overdub(context, stage(f, signature<double>));
  } catch (error const& e) {
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("counts of calls include native functions of programs") {
  contexts::count direct, count;
  (void)run(direct, prints, 2.0);
  ir::program const p = overdub::overdub(count, stage(prints, signature<double>));
  printed = 0;
  CHECK(executable(p).call<double>(2.0) == 6.0);
  CHECK(printed == 2.0);
  CHECK(count.primitives == direct.primitives);
  CHECK(count.functions == direct.functions);
}
TEST_CASE("fault applies to native functions of programs") {
  contexts::fault<> fault(contexts::nth_call(2)); // only calls of print count, since it is impure
  executable const e(overdub::overdub(fault, stage(prints, signature<double>)));
  CHECK(e.call<double>(2.0) == 6.0);
  CHECK_THROWS_AS(e.call<double>(2.0), contexts::injected_fault);
  contexts::fault<std::remove_const_t<decltype(lookup)>> named(contexts::nth_call(1));
  executable const f(overdub::overdub(named, stage(prints, signature<double>)));
  CHECK_THROWS_AS(f.call<double>(2.0), contexts::injected_fault);
  CHECK(f.call<double>(2.0) == 6.0);
}
TEST_CASE("retry applies to native functions of programs") {
  auto retry = contexts::retry(contexts::times<3>, flaky);
  executable const e(overdub::overdub(retry, stage(asks, signature<double>)));
  failures = 2;
  CHECK(e.call<double>(2.0) == 5.0);
  failures = 3;
  CHECK_THROWS_AS(e.call<double>(2.0), std::runtime_error);
  failures = 0;
}
TEST_CASE("slice removes the side effects of programs") {
  auto none = contexts::slice();
  executable const e(overdub::overdub(none, stage(prints, signature<double>)));
  printed = 0;
  CHECK(e.call<double>(2.0) == 6.0);
  CHECK(printed == 0.0);
  auto needed = contexts::slice();
  CHECK(refused(needed, fn<"uses">([](auto x) { return other(x); })).find("\"other\"") != std::string::npos);

  contexts::deferred_effects<std::remove_const_t<decltype(print)>> later;
  executable const deferred(overdub::overdub(contexts::slice(later), stage(prints, signature<double>)));
  CHECK(deferred.call<double>(2.0) == 6.0);
  CHECK(printed == 0.0);
  later.replay();
  CHECK(printed == 2.0);

  // Other effects are not deferred.
  printed = 0;
  executable const both(overdub::overdub(contexts::slice(later), stage(prints_other, signature<double>)));
  CHECK(both.call<double>(2.0) == 3.0);
  CHECK(printed == 0.0);
  later.replay();
  CHECK(printed == 2.0);
}
TEST_CASE("contexts that store callees reject native functions that they do not name") {
  contexts::deferred_effects<> later;
  CHECK(refused(contexts::slice(later), prints).find("does not name \"print\"") != std::string::npos);
}
TEST_CASE("mock and forward together differentiate a program with a native function") {
  auto mock = contexts::mock(lookup, [](auto x) { return x * x; });
  contexts::forward forward;
  ir::program const p = overdub::overdub(
      compose(mock, forward), stage(fn<"looks">([](auto x) { return lookup(x) * 3.0; }), signature<double>));
  auto const [value, slope] = executable(p).call<std::tuple<double, double>>(5.0, 1.0);
  CHECK(value == 75.0);
  CHECK(slope == 30.0);
  CHECK(refused(forward, prints).find("rule for native functions") != std::string::npos);
}

struct adds_to_all_natives : context {
  auto overdub(rule_call auto call, native_leaf auto, auto x) { return call.fallback(x) + 1.0; }
};
TEST_CASE("a rule for all native functions applies to their results") {
  adds_to_all_natives context;
  CHECK(run(context, asks, 2.0) == 6.0);
  CHECK(executable(stage(context, asks, signature<double>)).call<double>(2.0) == 6.0);
  CHECK(
      refused(context, asks).find("a context is for native functions, and does not name \"flaky\"") !=
      std::string::npos);
}
