// Calls that fail are repeated.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/retry.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/cell.hpp>

#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace od = overdub;
using od::contexts::fault;
using od::contexts::retry;
using od::contexts::times;

int failures_left = 0, calls = 0;
inline constexpr auto fetch = od::leaf<"fetch">([](double x) {
  ++calls;
  if (failures_left-- > 0) throw std::runtime_error("busy");
  return x + 1.0;
});
inline constexpr auto other = od::leaf<"other">([](double x) -> double {
  if (failures_left-- > 0) throw std::runtime_error("other");
  return x;
});
inline constexpr auto load = od::fn<"load">([](auto x) {
  auto const y = fetch(x);
  return y * 2.0;
});
inline constexpr auto program = od::fn<"program">([](auto x) { return load(x) + 1.0; });

void prepare(int failures) {
  failures_left = failures;
  calls = 0;
}

} // namespace

TEST_CASE("a native function is called until it succeeds or the policy stops") {
  auto c = retry(times<3>, fetch);
  for (int failures = 0; failures < 3; ++failures) {
    prepare(failures);
    CHECK(od::run(c, program, 1.0) == 5.0);
    CHECK(calls == failures + 1);
  }
  prepare(3);
  CHECK_THROWS_WITH(od::run(c, program, 1.0), "busy");
  CHECK(calls == 3);
}

inline constexpr auto poll = od::leaf<"poll">([] {
  ++calls;
  if (failures_left-- > 0) throw std::runtime_error("busy");
  return 1.0;
});
inline constexpr auto polling =
    od::fn<"polling">([](od::scope auto& cx, auto x) -> decltype(x) { return x + cx(poll); });

TEST_CASE("a native function without arguments is retried, and inner contexts observe each attempt") {
  prepare(2);
  od::contexts::count inner;
  CHECK(od::run(od::compose(retry(times<3>, poll), inner), polling, 1.0) == 2.0);
  CHECK(calls == 3);
  CHECK(inner.primitives == 4); // three attempts, and the sum
}

TEST_CASE("a function is repeated in full, with the same arguments") {
  prepare(2);
  auto c = retry(times<3>, load);
  CHECK(od::run(c, program, 1.0) == 5.0);
  CHECK(calls == 3);
  prepare(1);
  auto itself = retry(times<2>, program);
  CHECK(od::run(itself, program, 1.0) == 5.0);
}

TEST_CASE("callees that are not listed are not retried") {
  prepare(1);
  auto c = retry(times<5>, other);
  CHECK_THROWS_WITH(od::run(c, program, 1.0), "busy");
  CHECK(calls == 1);
}

TEST_CASE("a policy receives the callee, the number of failures and the exception, and may have captures") {
  std::vector<std::string> told;
  auto const tell = [&](std::string_view callee, int failures, std::exception_ptr const& e) {
    try {
      std::rethrow_exception(e);
    } catch (std::exception const& x) {
      told.push_back(std::string(callee) + " " + std::to_string(failures) + " " + x.what());
    }
    return failures < 3;
  };
  prepare(2);
  auto c = retry(tell, fetch, load);
  CHECK(od::run(c, program, 1.0) == 5.0);
  CHECK(told == std::vector<std::string>{"load 1 busy", "load 2 busy"});
}

TEST_CASE("errors that reject a program propagate at once, without a call of the policy") {
  int asked = 0;
  auto const ask = [&](std::string_view, int failures, std::exception_ptr const&) {
    ++asked;
    return failures < 3;
  };
  auto const asked_of = [&](auto const& attempt) {
    asked = calls = 0;
    auto const f = od::leaf<"f">([&](double x) {
      ++calls;
      attempt();
      return x;
    });
    auto c = retry(ask, f);
    CHECK_THROWS(od::run(
        c, [&](auto x) { return f(x); }, 1.0));
    return asked;
  };
  CHECK((asked_of([] { (void)od::ir::parse("no program"); }) == 0 && calls == 1));
  CHECK((asked_of([] { (void)od::executable(od::ir::parse("")); }) == 0 && calls == 1));
  auto const throws = [](auto e) { return [=] { throw e; }; };
  od::message const why("why");
  CHECK(asked_of(throws(od::staging_error(why))) == 0);
  CHECK(asked_of(throws(od::evaluation_error(why))) == 0);
  CHECK(asked_of(throws(od::pass_error(why, ""))) == 0);
  CHECK(asked_of(throws(od::refusal(why))) == 0);
  CHECK(asked_of(throws(od::ir::verify_error(std::vector<od::ir::diagnostic>()))) == 0);
  CHECK(asked_of(throws(od::differentiation_error(why))) == 0);
  CHECK(asked_of(throws(od::escaped_value(why))) == 0);

  CHECK((asked_of(throws(std::runtime_error("busy"))) == 3 && calls == 3));
  CHECK((asked_of(throws(od::error(why))) == 3 && calls == 3));
  CHECK((asked_of(throws(od::index_error(why))) == 3 && calls == 3));
  CHECK((asked_of(throws(od::assertion_failed(why))) == 3 && calls == 3));
}

TEST_CASE("inner contexts observe each attempt, and outer contexts one call: retry survives inner faults") {
  prepare(0);
  fault<decltype(fetch)> faults(od::contexts::every_call(2));
  od::contexts::count_of<decltype(fetch)> outside, inside;
  auto all = od::compose(outside, retry(times<2>, fetch), faults, inside);
  for (int i = 0; i < 10; ++i) CHECK(od::run(all, program, 1.0) == 5.0);
  CHECK((outside(fetch) == 10 && inside(fetch) == 10 && calls == 10 && faults.faults == 9));
  fault<decltype(load)> of_function(od::contexts::nth_call(1));
  CHECK(od::run(od::compose(retry(times<2>, load), of_function), program, 1.0) == 5.0);
  CHECK(of_function.calls == 2);
}

TEST_CASE("a function is retried inside of an outer context, too, with correct derivatives") {
  auto const slope = od::fn<"slope">([](auto x) {
    if (failures_left-- > 0) throw std::runtime_error("busy");
    return x * x;
  });
  auto const f = od::fn<"f">([=](auto x) { return slope(x) + x; });
  prepare(2);
  CHECK(
      od::run(od::compose(od::contexts::forward{}, retry(times<3>, slope)), f, od::tag(3.0, 1.0)).metadata ==
      7.0);
  prepare(2);
  CHECK(
      od::run(od::compose(retry(times<3>, slope), od::contexts::forward{}), f, od::tag(3.0, 1.0)).metadata ==
      7.0);
}

TEST_CASE("a native function is retried in programs, in the interpreter, and inside of contexts with hooks") {
  auto c = retry(times<3>, fetch);
  CHECK(od::ir::print(od::stage(c, load, od::signature<double>)) == R"(entry @load.retry

func @load.retry(%0: f64) -> f64 {
  %1 = host ordered "fetch"(%0) : f64
  %2 = mul %1, 2.0 : f64
  return %2
}
)");
  auto const f = od::compile(c, program, od::signature<double>);
  prepare(2);
  CHECK((f(1.0) == 5.0 && calls == 3));
  prepare(3);
  CHECK_THROWS_WITH(f(1.0), "busy");
  CHECK(calls == 3);
  std::ostringstream direct, compiled;
  od::contexts::log log(direct), again(compiled);
  prepare(1);
  od::run(od::compose(log, c), program, 1.0);
  prepare(1);
  CHECK(od::compile(od::compose(again, c), program, od::signature<double>)(1.0) == 5.0);
  CHECK(compiled.str() == direct.str());
}
