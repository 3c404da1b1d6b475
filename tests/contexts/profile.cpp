// The profile by a clock that the test controls.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/profile/allocations.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using od::contexts::durations;
using od::contexts::forward;
using std::chrono::nanoseconds;

struct fake_clock {
  using time_point = std::chrono::time_point<fake_clock, nanoseconds>;
  using duration = nanoseconds;
  static inline time_point time{};
  static time_point now() { return time; }
};
using profile = od::contexts::profile_by<fake_clock>;

inline constexpr auto work = od::leaf<"work">([](double ns) {
  fake_clock::time += nanoseconds(static_cast<i64>(ns));
  return ns;
});
inline constexpr auto inner = od::fn<"inner">([](auto x) {
  auto const a = work(x);
  return a + work(2.0 * x);
});
inline constexpr auto other = od::fn<"other">([](auto x) {
  auto const a = inner(x);
  return a + work(5.0 * x);
});
inline constexpr auto outer = od::fn<"outer">([](auto x) {
  auto const a = inner(x);
  auto const b = other(x);
  return a + b + inner(100.0 * x);
});
inline constexpr auto countdown = od::fn<"countdown">([](od::scope auto& cx, auto n) -> decltype(n) {
  auto const t = work(10.0 * od::convert<double>(n));
  return od::if_(
      t <= 0.0, [&] { return n; }, [&] { return cx.self(n - 1); });
});

// name: calls, total, self
std::string by_function(profile const& p) {
  std::string all;
  for (auto const& r : p.functions())
    all += std::string(r.name) + ": " + std::to_string(r.calls) + ", " + std::to_string(r.total.count()) +
           ", " + std::to_string(r.self.count()) + '\n';
  return all;
}
std::string folded(profile const& p) {
  std::ostringstream out;
  p.write_folded(out);
  return out.str();
}

constexpr auto outer_folded = "outer 0\n"
                              "outer;inner 0\n"
                              "outer;inner;work 606\n"
                              "outer;other 0\n"
                              "outer;other;inner 0\n"
                              "outer;other;inner;work 6\n"
                              "outer;other;work 10\n";

// The multiplication takes 7 ns.
struct ticking : od::contexts::profile_by<fake_clock> {
  using profile_by::before;
  void before(od::mul_t, auto, auto) { fake_clock::time += nanoseconds(7); }
};

} // namespace

TEST_CASE("profile measures self and total times of functions") {
  profile p;
  od::run(p, outer, 2.0);
  CHECK(by_function(p) == "work: 7, 622, 622\ninner: 3, 612, 0\nother: 1, 16, 0\nouter: 1, 622, 0\n");
}

TEST_CASE("profile has paths, and writes folded stacks for flame graph tools") {
  profile p;
  od::run(p, outer, 2.0);
  CHECK(folded(p) == outer_folded);
  auto const paths = p.paths();
  REQUIRE(paths.size() == 7);
  CHECK((paths[1].path == std::vector<std::string_view>{"outer", "inner"} && paths[1].calls == 2));
  CHECK((paths[1].total.count() == 606 && paths[3].total.count() == 16));
  od::run(p, outer, 2.0);
  CHECK(p.paths()[1].calls == 4);
}

TEST_CASE("a semicolon in a name does not split a frame of a folded stack") {
  profile p;
  od::run(p, od::fn<"a;b\n">([](auto x) { return work(x); }), 2.0);
  CHECK(folded(p).starts_with("a_b_ 0\na_b_;work "));
}

TEST_CASE("self time is the time between the calls of a function") {
  ticking p;
  od::run(p, inner, 3.0);
  CHECK(by_function(p) == "work: 2, 9, 9\ninner: 1, 16, 7\n");
}

TEST_CASE("the total of a recursive function is that of the outermost calls") {
  profile p;
  od::run(p, countdown, i64{4});
  CHECK(by_function(p) == "work: 5, 100, 100\ncountdown: 5, 100, 0\n");
  CHECK(p.paths().size() == 10);
  CHECK(p.functions()[1].each.largest() == nanoseconds(100));
}

TEST_CASE("a call that fails is measured, and so are its callers") {
  auto const fail = od::leaf<"fail">([](double x) -> double {
    fake_clock::time += nanoseconds(3);
    throw std::runtime_error("x " + std::to_string(x));
  });
  auto const f = od::fn<"f">([=](auto x) { return fail(work(x)); });
  profile p;
  CHECK_THROWS(od::run(p, f, 4.0));
  od::run(p, inner, 1.0);
  CHECK(folded(p) == "f 0\nf;work 4\nf;fail 3\ninner 0\ninner;work 3\n");
}

TEST_CASE("percentiles have an error of at most six percent") {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> distribution(8.0, 2.0);
  durations all, first, second;
  std::vector<double> exact;
  for (int i = 0; i < 20001; ++i) {
    nanoseconds const d(static_cast<i64>(distribution(random)));
    exact.push_back(static_cast<double>(d.count()));
    all.add(d);
    (i % 3 ? first : second).add(d);
  }
  std::sort(exact.begin(), exact.end());
  first.add(second);
  for (double part : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999}) {
    double const right = exact[static_cast<std::size_t>(part * 20001)];
    CHECK(static_cast<double>(all.percentile(part).count()) == Approx(right).epsilon(0.065).margin(1));
    CHECK(first.percentile(part) == all.percentile(part));
  }
  CHECK((all.percentile(1.0) == all.largest() && all.largest().count() == static_cast<i64>(exact.back())));
  CHECK(durations().percentile(0.5) == nanoseconds(0));
  durations extreme;
  extreme.add(nanoseconds::max());
  extreme.add(nanoseconds(-5));
  CHECK((extreme.percentile(0.1) == nanoseconds(0) && extreme.largest() == nanoseconds::max()));
}

TEST_CASE("the table has a line for each function") {
  profile p;
  od::run(p, inner, 2000.0);
  std::ostringstream out;
  out << p;
  CHECK(
      out.str() == "function                 calls       self      total     median       99 %    largest\n"
                   "work                         2     6.0 us     6.0 us     4.0 us     4.0 us     4.0 us\n"
                   "inner                        1       0 ns     6.0 us     5.9 us     5.9 us     6.0 us\n");
}

TEST_CASE("profile counts allocations of functions alone, and with their callees") {
  auto const filled = od::fn<"filled">([](auto n) { return od::sum(od::fill(n, 1.0)); });
  auto const twice = od::fn<"twice">([=](auto n) {
    auto const a = od::iota(n);
    auto const b = filled(n);
    return b + filled(a[n - 1]);
  });
  profile p(od::contexts::allocations_of_thread);
  CHECK(od::run(p, twice, i64{10}) == 19.0);
  if (!od::contexts::counts_allocations) return; // under a sanitizer
  for (auto const& r : p.functions()) {
    CHECK(r.calls == (r.name == "twice" ? 1 : 2));
    CHECK(r.self_allocations == (r.name == "twice" ? 1 : 2));
    CHECK(r.allocations == (r.name == "twice" ? 3 : 2));
  }
  std::ostringstream out;
  out << p;
  CHECK(out.str().find("  self allocations\n") != std::string::npos);
  profile without;
  od::run(without, twice, i64{10});
  CHECK(without.functions()[0].allocations == 0);
}

TEST_CASE("profile works inside of other contexts") {
  profile p;
  auto const square = od::fn<"square">([](auto x) { return x * x; });
  od::run(od::compose(forward{}, p), od::fn<"f">([=](auto x) { return square(x); }), od::tag(1.0, 1.0));
  CHECK(folded(p) == "f.forward 0\nf.forward;square.forward 0\n");
}

TEST_CASE("a compiled program has the profile of a direct run") {
  profile p, other_instance;
  auto const f = od::compile(p, outer, od::signature<double>);
  auto const g = od::compile(other_instance, outer, od::signature<double>);
  CHECK(f(2.0) == 622.0);
  CHECK(folded(p) == outer_folded);
  CHECK(other_instance.paths().empty());
  CHECK(g(2.0) == 622.0);
  CHECK(by_function(other_instance) == by_function(p));
}

TEST_CASE("the default clock is the steady clock") {
  auto const sleep = od::leaf<"sleep">(
      [](double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); });
  auto const f = od::fn<"f">([=](auto x) {
    sleep(x);
    return x;
  });
  od::contexts::profile p;
  od::run(p, f, 20.0);
  for (auto const& r : p.functions()) CHECK(r.total >= std::chrono::milliseconds(20));
}
