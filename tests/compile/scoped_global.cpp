// Run by g++: each of its contexts has tables of all operations.
// Contexts for all compiled calls of a thread.
#include "catch.hpp"
#include "contexts/test_contexts.hpp"

#include <overdub/compile/library_call.hpp>
#include <overdub/compile/scoped_global.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/reverse.hpp>

#include <cmath>
#include <concepts>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace od = overdub;
using test_contexts::doubling;
using test_contexts::repeating;

inline constexpr auto inner = od::fn<"inner">([](auto x) { return sin(x); });
inline constexpr auto wave = od::fn<"wave">([](auto x) { return inner(x) + 1.0; });

// Functions and two operations only: a hook for all operations takes long to compile.
template <class F>
concept observed_by = od::function<F> || std::same_as<F, od::sin_t> || std::same_as<F, od::add_t>;
struct names : od::context {
  std::vector<std::string> observed;
  template <observed_by F>
  void before(F f, auto const&...) {
    observed.emplace_back(f.name());
  }
};
struct zero_cosine : od::context {
  auto overdub(od::cos_t, auto x) { return 0.0 * x; }
};

} // namespace

TEST_CASE("a global context is outermost in all compiled calls, until the end of its scope") {
  auto const f = od::compile(od::compose(), wave, od::signature<double>);
  double const plain = f(0.5);
  names a, b;
  for (names* const n : {&a, &b}) {
    od::scoped_global const observed(*n);
    CHECK(f(0.5) == plain);
    CHECK(f(0.5) == plain);
  }
  names direct;
  (void)od::run(direct, wave, 0.5);
  (void)od::run(direct, wave, 0.5);
  CHECK(a.observed == direct.observed);
  CHECK(b.observed == direct.observed);
  CHECK(f(0.5) == plain);
  CHECK(a.observed == direct.observed);
}

TEST_CASE("scopes nest: the context of the inner scope is outermost") {
  auto const f = od::compile(od::compose(), wave, od::signature<double>);
  names n;
  doubling d;
  od::scoped_global const observed(n);
  od::scoped_global const doubled(d);
  CHECK(f(0.5) == 2.0 * std::sin(0.5) + 1.0);
  names direct;
  CHECK(od::run(od::compose(d, direct), wave, 0.5) == f(0.5));
  (void)od::run(od::compose(d, direct), wave, 0.5);
  CHECK(n.observed == direct.observed);
}

TEST_CASE("a global context does not apply to other threads") {
  auto const f = od::compile(od::compose(), wave, od::signature<double>);
  names n;
  od::scoped_global const observed(n);
  double elsewhere = 0;
  std::thread([&] { elsewhere = f(0.5); }).join();
  CHECK(elsewhere == std::sin(0.5) + 1.0);
  CHECK(n.observed.empty());
}

TEST_CASE("a global context applies to functions of libraries, in each world") {
  od::library of;
  of.define("func @f(%x: f64) -> f64 {\n  %y = sin %x : f64\n  return %y\n}\n");
  auto const f = of.function<double(double)>("f");
  doubling d;
  od::scoped_global const doubled(d);
  CHECK(f(0.5) == 2.0 * std::sin(0.5));
  of.redefine("func @f(%x: f64) -> f64 {\n  %y = sin %x : f64\n  %z = add %y, 1.0 : f64\n  return %z\n}\n");
  CHECK(f(0.5) == 2.0 * std::sin(0.5) + 1.0);
}

TEST_CASE("a global context observes the rewritten functions of compiled contexts") {
  od::contexts::forward along;
  auto const f = od::compile(along, wave, od::signature<od::tagged<double, double>>);
  names own, observed;
  auto const g = od::compile(own, wave, od::signature<double>);
  doubling d;
  {
    od::scoped_global const here(observed);
    CHECK(f(od::tag(0.5, 1.0)).metadata == std::cos(0.5));
    od::scoped_global const doubled(d);
    CHECK(g(0.5) == 2.0 * std::sin(0.5) + 1.0);
  }
  CHECK(own.observed == std::vector<std::string>{"wave", "inner", "sin", "add"});
  names again, direct;
  (void)od::run(od::compose(along, direct), wave, od::tag(0.5, 1.0));
  (void)od::run(od::compose(again, d, direct), wave, 0.5);
  CHECK(observed.observed == direct.observed);
  CHECK(g(0.5) == std::sin(0.5) + 1.0);
}

TEST_CASE("a global context applies to runs of contexts with fingerprints") {
  repeating r(2);
  doubling d;
  od::scoped_global const doubled(d);
  CHECK(od::run(r, wave, 0.5) == 4.0 * std::sin(0.5) + 1.0);
  r.times = 1;
  CHECK(od::run(r, wave, 0.5) == 2.0 * std::sin(0.5) + 1.0);
}

TEST_CASE("a global context applies to gradients") {
  double const plain = od::gradient(wave)(0.5);
  zero_cosine c;
  {
    od::scoped_global const here(c);
    CHECK(od::gradient(wave)(0.5) == 0.0);
  }
  CHECK(od::gradient(wave)(0.5) == plain);
}

TEST_CASE("a global context applies to both passes of a pullback") {
  double const cosine = std::cos(0.5);
  zero_cosine c;
  names n;
  auto const of = od::pullback(wave);
  auto const before = of(0.5);
  {
    od::scoped_global const observed(n);
    od::scoped_global const here(c);
    auto const [value, back] = of(0.5);
    CHECK(value == std::sin(0.5) + 1.0);
    CHECK(back(2.0) == 0.0);
    CHECK_FALSE(n.observed.empty());
    CHECK(before.second(2.0) == before.second(2.0));
  }
  auto const size = n.observed.size();
  CHECK(of(0.5).second(2.0) == 2.0 * cosine);
  CHECK(before.second(2.0) == 2.0 * cosine);
  CHECK(n.observed.size() == size);
}
