// fault: injected failures of calls, directly and in compiled programs.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
using od::contexts::every_call;
using od::contexts::fault;
using od::contexts::injected_fault;
using od::contexts::nth_call;
using od::contexts::random_calls;

int fetched = 0;
inline constexpr auto fetch = od::leaf<"fetch">([](double x) {
  ++fetched;
  return x + 1.0;
});
inline constexpr auto pure = od::leaf<"pure">([](double x) { return x * 2.0; }, od::effects::pure);
inline constexpr auto twice = od::fn<"twice">([](auto x) {
  auto const y = fetch(x);
  return fetch(pure(y));
});

} // namespace

TEST_CASE("the nth call fails and does not run, and the calls before and after it run") {
  for (long n = 1; n <= 3; ++n) {
    fetched = 0;
    fault<> f(nth_call(n));
    if (n <= 2) {
      CHECK_THROWS_AS(od::run(f, twice, 1.0), injected_fault);
      CHECK(fetched == n - 1);
      CHECK((f.calls == n && f.faults == 1));
    }
    CHECK(od::run(f, twice, 1.0) == 5.0);
  }
}

TEST_CASE("the message has the number of the failed call and its callee") {
  fault<> f(nth_call(2));
  CHECK_THROWS_WITH(od::run(f, twice, 1.0), "overdub: call 2 of those that may fail was made to fail: fetch");
}

TEST_CASE("every nth call fails, over several runs") {
  fault<> f(every_call(3));
  std::vector<bool> failed;
  for (int i = 0; i < 6; ++i) {
    try {
      od::run(f, twice, 1.0);
      failed.push_back(false);
    } catch (injected_fault const&) {
      failed.push_back(true);
    }
  }
  CHECK(failed == std::vector{false, true, false, true, false, true}); // calls 1 2 | 3 | 4 5 | 6 | 7 8 | 9
  CHECK((f.calls == 9 && f.faults == 3));
}

TEST_CASE("random calls fail with the given probability, and identically for a seed") {
  auto const failures = [](double probability, std::uint64_t seed) {
    auto const fails = random_calls(probability, seed);
    std::vector<long> all;
    for (long i = 1; i <= 10000; ++i)
      if (fails(i)) all.push_back(i);
    return all;
  };
  CHECK(failures(0.1, 1) == failures(0.1, 1));
  CHECK(failures(0.1, 1) != failures(0.1, 2));
  for (double p : {0.01, 0.1, 0.5, 0.9})
    CHECK(static_cast<double>(failures(p, 7).size()) == Approx(10000 * p).margin(250));
  CHECK((failures(0, 1).empty() && failures(1, 1).size() == 10000));
}

TEST_CASE("chosen callees fail: functions, operations and pure native functions") {
  fault<decltype(twice)> function(nth_call(1));
  CHECK_THROWS_AS(od::run(function, twice, 1.0), injected_fault);
  fault<decltype(pure)> leaf(nth_call(1));
  CHECK_THROWS_AS(od::run(leaf, twice, 1.0), injected_fault);
  fault<od::mul_t, od::add_t> operation(nth_call(2));
  auto const f = od::fn<"f">([](auto x) {
    auto const y = x * x;
    return y + 1.0;
  });
  CHECK_THROWS_WITH(od::run(operation, f, 1.0), Catch::EndsWith("add"));
  fault<decltype(f)> in_outer(nth_call(1));
  CHECK_THROWS_WITH(
      od::run(od::compose(od::contexts::forward{}, in_outer), f, od::tag(1.0, 1.0)),
      Catch::EndsWith("f.forward"));
}

TEST_CASE("a custom handler may throw another exception, and the call runs if it throws nothing") {
  fault<> f(nth_call(1), [](std::string_view name) { throw std::out_of_range(std::string(name)); });
  CHECK_THROWS_AS(od::run(f, twice, 1.0), std::out_of_range);
  std::vector<std::string> noted;
  fault<> g(nth_call(2), [&](std::string_view name) { noted.emplace_back(name); });
  CHECK(od::run(g, twice, 1.0) == 5.0);
  CHECK(noted == std::vector<std::string>{"fetch"});
}

TEST_CASE("outer contexts observe the failed call, and inner contexts do not") {
  od::contexts::count_of<decltype(fetch)> inside;
  std::ostringstream out;
  od::contexts::log log(out);
  fault<> f(nth_call(2));
  CHECK_THROWS_AS(od::run(od::compose(log, f, inside), twice, 1.0), injected_fault);
  CHECK(inside(fetch) == 1);
  CHECK(out.str().find("fetch(4) threw overdub: call 2") != std::string::npos);
}

TEST_CASE("compiled programs fail where direct runs do, according to their own contexts") {
  auto const looped =
      od::fn<"looped">([](auto x) { return od::loop(5, x, [](auto, auto y) { return fetch(y); }); });
  fault<> once(nth_call(4)), never(nth_call(100));
  auto const f = od::compile(once, looped, od::signature<double>);
  auto const g = od::compile(never, looped, od::signature<double>);
  CHECK(&f.made() == &g.made());
  fetched = 0;
  CHECK_THROWS_WITH(f(1.0), "overdub: call 4 of those that may fail was made to fail: fetch");
  CHECK(fetched == 3);
  CHECK((f(1.0) == 6.0 && g(1.0) == 6.0));
  CHECK((once.calls == 9 && never.calls == 5));

  std::ostringstream direct, compiled;
  od::contexts::log log(direct);
  fault<> again(nth_call(2));
  CHECK_THROWS_AS(od::run(od::compose(log, again), twice, 1.0), injected_fault);
  od::contexts::log other(compiled);
  fault<> third(nth_call(2));
  auto const h = od::compile(od::compose(other, third), twice, od::signature<double>);
  CHECK_THROWS_AS(h(1.0), injected_fault);
  CHECK(compiled.str() == direct.str());
}
