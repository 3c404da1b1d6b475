// Programs without their side effects, which are dropped or deferred, on each executor.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/slice.hpp>
#include <overdub/ir/print.hpp>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using od::contexts::deferred_effects;
using od::contexts::forward;
using od::contexts::slice;

std::vector<std::string> observed;

inline constexpr auto say = od::leaf<"say">([](double x) { observed.push_back("say " + std::to_string(x)); });
inline constexpr auto add_up = od::leaf<"add_up">(
    [](double x) { observed.push_back("add_up " + std::to_string(x)); }, od::effects::accumulates);
inline constexpr auto halve = od::leaf<"halve">([](double x) { return x / 2; }, od::effects::pure);
inline constexpr auto strict_say = od::leaf<"strict_say">([](double x) {
  if (x > 2) throw std::runtime_error("too loud");
  observed.push_back("strict_say " + std::to_string(x));
});
inline constexpr auto say_all = od::leaf<"say_all">([](od::array<double> const& xs) {
  for (double x : xs) observed.push_back(std::to_string(x));
});

inline constexpr auto step = od::fn<"step">([](auto x) {
  say(x);
  auto const y = x * 2.0;
  add_up(y);
  return y + 1.0;
});
inline constexpr auto walk = od::fn<"walk">([](auto x) {
  auto const y = step(x);
  say(y);
  return step(y);
});
inline constexpr auto careful = od::fn<"careful">([](auto x) {
  say(x);
  strict_say(x);
  return x;
});

std::vector<std::string> take() { return std::exchange(observed, {}); }
std::vector<std::string> plain(double x) {
  take();
  (void)walk(x);
  return take();
}

} // namespace

TEST_CASE("slice() drops the side effects and keeps the result") {
  take();
  CHECK(od::run(slice(), walk, 1.0) == 7.0);
  CHECK(observed.empty());
}

TEST_CASE("deferred effects are replayed once, in the order of the program") {
  auto const expected = plain(1.0);
  deferred_effects later;
  CHECK(od::run(slice(later), walk, 1.0) == 7.0);
  CHECK(observed.empty());
  CHECK(later.size() == 5);
  later.replay();
  CHECK(take() == expected);
  later.replay();
  CHECK(observed.empty());
}

TEST_CASE("effects that several runs deferred are replayed in order, and clear() discards them") {
  deferred_effects later;
  od::run(slice(later), step, 1.0);
  od::run(slice(later), step, 2.0);
  later.replay();
  CHECK(take().size() == 4);
  od::run(slice(later), step, 1.0);
  later.clear();
  later.replay();
  CHECK(observed.empty());
}

TEST_CASE("if a replayed effect throws, it is removed, and the effects after it remain") {
  deferred_effects later;
  od::run(slice(later), careful, 1.0);
  od::run(slice(later), careful, 3.0);
  od::run(slice(later), careful, 2.0);
  CHECK_THROWS_WITH(later.replay(), "too loud");
  CHECK(take().size() == 3);
  CHECK(later.size() == 2);
  later.replay();
  CHECK(take() == std::vector<std::string>{"say 2.000000", "strict_say 2.000000"});
}

TEST_CASE("if effects are listed, slice defers these alone, and others run at once") {
  deferred_effects<decltype(say)> later;
  od::run(slice(later), walk, 1.0);
  CHECK(take() == std::vector<std::string>{"add_up 2.000000", "add_up 6.000000"});
  later.replay();
  CHECK(take() == std::vector<std::string>{"say 1.000000", "say 3.000000", "say 3.000000"});
}

TEST_CASE("pure functions are no effects: they run, and their results are used") {
  auto const f = od::fn<"f">([](auto x) {
    say(x);
    return halve(x) + 1.0;
  });
  CHECK(od::run(slice(), f, 3.0) == 2.5);
}

TEST_CASE("a deferred effect keeps its array argument as it was at the call") {
  auto const f = od::fn<"f">([](auto xs) {
    say_all(xs);
    auto const ys = od::update(std::move(xs), 0, 7.0);
    say_all(ys);
    return od::sum(ys);
  });
  take();
  deferred_effects later;
  {
    std::vector<double> mine{1, 2};
    CHECK(od::run(slice(later), f, od::array<double>::borrow(mine)) == 9.0);
    mine = {0, 0};
  }
  later.replay();
  CHECK(take() == std::vector<std::string>{"1.000000", "2.000000", "7.000000", "2.000000"});
}

TEST_CASE("effects before an exception of the program remain deferred") {
  auto const fail = od::fn<"fail">([](auto x, auto n) {
    say(x);
    auto const quotient = n / 0;
    say(x);
    return quotient;
  });
  deferred_effects later;
  CHECK_THROWS_AS(od::run(slice(later), fail, 1.0, i64{1}), od::division_by_zero);
  CHECK(later.size() == 1);
}

TEST_CASE("outer contexts observe the effects, inner ones do not, and derivatives are correct") {
  take();
  deferred_effects later;
  od::contexts::count_of<decltype(say)> outside, inside;
  auto const r = od::run(od::compose(outside, slice(later), forward{}, inside), walk, od::tag(1.0, 1.0));
  CHECK((r.inner == 7.0 && r.metadata == 4.0));
  CHECK((outside(say) == 3 && inside(say) == 0));
  auto const expected = plain(1.0);
  later.replay();
  CHECK(take() == expected);
  std::ostringstream out;
  od::contexts::log log(out);
  CHECK(od::run(od::compose(log, slice()), step, 1.0) == 3.0);
  CHECK(out.str().find("say(1) = ") != std::string::npos);
}

TEST_CASE("a staged program has no operations for sliced effects") {
  std::string const text = od::ir::print(od::stage(slice(), step, od::signature<double>));
  CHECK(text == R"(entry @step.slice

func @step.slice(%0: f64) -> f64 {
  %1 = mul %0, 2.0 : f64
  %2 = add %1, 1.0 : f64
  return %2
}
)");
}

TEST_CASE("a compiled program defers effects in loops and branches, each call into its own contexts") {
  auto const looped = od::fn<"looped">([](auto x) {
    return od::loop(3, x, [](auto, auto y) {
      return od::if_(
          y > 4.0, [&] { return y; },
          [&] {
            say(y);
            return y * 2.0;
          });
    });
  });
  take();
  (void)looped(1.5);
  auto const expected = take();
  deferred_effects later, other;
  auto const f = od::compile(slice(later), looped, od::signature<double>);
  auto const g = od::compile(slice(other), looped, od::signature<double>);
  CHECK(&f.made() == &g.made());
  CHECK((f(1.5) == 6.0 && observed.empty()));
  CHECK((later.size() == expected.size() && other.size() == 0));
  later.replay();
  CHECK(take() == expected);
  CHECK(g(8.0) == 8.0);
  CHECK((later.size() == 0 && other.size() == 0));
}

TEST_CASE("a compiled program with derivatives defers the side effects") {
  take();
  deferred_effects later;
  auto const f =
      od::compile(od::compose(slice(later), forward{}), walk, od::signature<od::tagged<double, double>>);
  auto const r = f(od::tag(1.0, 1.0));
  CHECK((r.inner == 7.0 && r.metadata == 4.0));
  auto const expected = plain(1.0);
  later.replay();
  CHECK(take() == expected);
}
