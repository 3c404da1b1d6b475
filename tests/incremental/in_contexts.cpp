// Run by g++: each of its contexts has tables of all operations.
// Incremental functions in contexts: an update has the value of a run in these contexts.
#include "catch.hpp"
#include "contexts/executors.hpp"
#include "contexts/test_contexts.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/compile/scoped_global.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/incremental.hpp>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
namespace oc = overdub::contexts;
using namespace test_contexts;
using numbers = od::array<double>;

inline constexpr auto shifted_wave = od::fn<"shifted_wave">([](auto x, auto y) { return sin(x * x) + y; });
inline constexpr auto total = od::fn<"total">(
    [](auto const& xs, auto a) { return od::sum(od::map([&](auto x) { return sin(x) * a; }, xs)); });
// Sums of sines under a condition.
inline constexpr auto rows_and_scale = od::fn<"rows_and_scale">([](auto const& xs, auto a, auto is_on) {
  return od::if_(
             is_on, [&] { return od::sum(od::map([](auto x) { return sin(x); }, xs)) + 0.0 * a; },
             [&] { return 0.0 * a; }) *
         a;
});
inline constexpr auto sine = od::fn<"sine">([](auto x) { return sin(x); });
inline constexpr auto twice = od::fn<"twice">([](auto x, auto y) {
  auto const first = sine(x);
  return first + sine(y);
});
inline constexpr auto recurrence = od::fn<"recurrence">([](auto const& xs, auto a) {
  auto const [last] = od::loop(od::size(xs), std::tuple(0.0 * xs[0]), [&](auto i, auto const& carried) {
    return std::tuple(sin(std::get<0>(carried) + xs[i]));
  });
  return last + a;
});
// Nested sines, by recursion.
inline constexpr auto nested_sines =
    od::fn<"nested_sines">([](od::scope auto& cx, auto x, auto n) -> decltype(x) {
      return od::if_(
          n <= 0, [&] { return x; }, [&] { return sin(cx.self(x, n - 1)); });
    });

using events = std::vector<std::pair<char, double>>;
inline constexpr auto scaled_sum = od::fn<"scaled_sum">(
    [](auto const& xs, auto a) { return od::sum(od::map([&](auto x) { return x * a; }, xs)); });
struct counts_products : od::context {
  static inline int count = 0;
  void before(od::mul_t, double, double) { ++count; }
};
struct observing_calls : od::context {
  events observed;
  void before(od::sin_t, double x) { observed.emplace_back('s', x); }
  void after(od::sin_t, double result, double) { observed.emplace_back('S', result); }
  void before(od::mul_t, double x, double) { observed.emplace_back('m', x); }
};
struct observing_sines : od::context {
  std::vector<double> observed;
  void before(od::sin_t, double x) { observed.push_back(x); }
};
struct observing_functions : od::context {
  std::vector<double> observed;
  void before(decltype(sine), double x) { observed.push_back(x); }
};

// A rule that reads an array.
struct weighing : od::context {
  od::context_field<numbers> by = numbers{1.0, 2.0};
  weighing() = default;
  explicit weighing(std::tuple<>) {}
  std::tuple<> fingerprint() const { return {}; }
  auto overdub(od::sin_t, auto x) { return od::sum(by(x)) * sin(x); }
};

} // namespace

TEST_CASE("an incremental function in contexts has the value of a run in them, after each update") {
  for (od::compile_options const& o : executors()) {
    repeating r(3);
    auto const contexts = od::compose(doubling{}, r);
    numbers xs{1.0, 2.0, 3.0, -1.0};
    double a = 2.0;
    auto f = od::incremental(o, contexts, total, xs, a);
    auto const direct = [&] { return od::compile(contexts, total, od::signature<numbers, double>)(xs, a); };
    CHECK(f.value() == Approx(direct()).epsilon(1e-14));
    for (int i = 0; i < 8; ++i) {
      xs = od::update(xs, i % 4, 0.5 * i - 1.0);
      f.set_at<0>(i % 4, 0.5 * i - 1.0);
      double const proposed = f.propose();
      CHECK(proposed == Approx(direct()).epsilon(1e-13));
      f.commit();
      CHECK(f.value() == proposed);
    }
    a = -1.0;
    f.set<1>(a);
    f.commit();
    CHECK(f.value() == Approx(direct()).epsilon(1e-13));
  }
}

TEST_CASE("an incremental function uses the fingerprints that its contexts have when it is made") {
  repeating r(2);
  auto const fewer = od::incremental(r, shifted_wave, 0.5, 1.0);
  r.times = 4;
  auto const more = od::incremental(r, shifted_wave, 0.5, 1.0);
  CHECK(fewer.value() == Approx(2.0 * std::sin(0.25) + 1.0));
  CHECK(more.value() == Approx(4.0 * std::sin(0.25) + 1.0));
  CHECK(&fewer.program().update_programs() != &more.program().update_programs());
}

TEST_CASE("passes before optimisation rewrite the program that is updated") {
  auto f = od::incremental(turning{}, shifted_wave, 0.5, 1.0);
  CHECK(f.value() == std::cos(0.25) + 1.0);
  f.set<0>(2.0);
  f.commit();
  CHECK(f.value() == std::cos(4.0) + 1.0);
}

TEST_CASE("metadata are passed and returned as tags, and are updated") {
  auto f = od::incremental(oc::forward{}, shifted_wave, od::tag(0.5, 1.0), 1.0);
  auto const direct = [](double x, double dx) {
    return od::run(oc::forward{}, shifted_wave, od::tag(x, dx), 1.0);
  };
  CHECK(f.value().inner == direct(0.5, 1.0).inner);
  CHECK(f.value().metadata == direct(0.5, 1.0).metadata);
  f.set<0>(od::tag(2.0, 3.0));
  f.commit();
  CHECK(f.value().metadata == direct(2.0, 3.0).metadata);
}

TEST_CASE("passes after optimisation rewrite the program that is updated, too") {
  auto f = od::incremental(od::compose(doubling{}, turning_last{}), shifted_wave, 0.5, 1.0);
  CHECK(f.value() == 2.0 * std::cos(0.25) + 1.0);
  f.set<0>(2.0);
  f.commit();
  CHECK(f.value() == 2.0 * std::cos(4.0) + 1.0);
}

TEST_CASE("fields that rules read are inputs, whose values are read when an update is proposed") {
  for (od::compile_options const& o : executors()) {
    scaling s;
    auto f = od::incremental(o, s, total, numbers{1.0, 2.0, 3.0}, 2.0);
    auto const sines = [](double a, double b, double c) { return std::sin(a) + std::sin(b) + std::sin(c); };
    CHECK(f.value() == Approx(6.0 * sines(1.0, 2.0, 3.0)));
    s.by = 5.0;
    CHECK(f.value() == Approx(6.0 * sines(1.0, 2.0, 3.0)));
    f.set_at<0>(1, 4.0);
    CHECK(f.propose() == Approx(10.0 * sines(1.0, 4.0, 3.0)));
    auto copy = f; // without pending changes
    f.rollback();
    CHECK(f.value() == Approx(6.0 * sines(1.0, 2.0, 3.0)));
    CHECK(f.propose() == Approx(10.0 * sines(1.0, 2.0, 3.0)));
    s.by = 7.0; // after the proposal
    f.commit();
    CHECK(f.value() == Approx(10.0 * sines(1.0, 2.0, 3.0)));
    f.commit();
    CHECK(f.value() == Approx(14.0 * sines(1.0, 2.0, 3.0)));
    CHECK(copy.value() == Approx(6.0 * sines(1.0, 2.0, 3.0)));
    copy.commit();
    CHECK(copy.value() == f.value());
    s.by = 3.0;
    f.set<1>(1.0);
    f.commit();
    CHECK(f.value() == Approx(3.0 * sines(1.0, 2.0, 3.0)));
  }
}

TEST_CASE("contexts that are passed by value keep their fields, which recursive functions read") {
  auto f = od::incremental(od::compose(doubling{}, scaling{}), shifted_wave, 0.5, 1.0);
  CHECK(f.value() == 6.0 * std::sin(0.25) + 1.0);
  f.set<1>(2.0);
  CHECK(f.propose() == 6.0 * std::sin(0.25) + 2.0);
  scaling s;
  auto g = od::incremental(s, nested_sines, 0.5, 3);
  auto const direct = [&](od::i64 n) {
    return od::compile(s, nested_sines, od::signature<double, od::i64>)(0.5, n);
  };
  CHECK(g.value() == direct(3));
  s.by = 2.0;
  g.set<1>(5);
  g.commit();
  CHECK(g.value() == direct(5));
}

TEST_CASE("an array in a field is updated element by element") {
  weighing w;
  numbers const xs{1.0, 2.0, 3.0};
  auto f = od::incremental(w, total, xs, 1.0);
  auto const direct = [&] { return od::compile(w, total, od::signature<numbers, double>)(xs, 1.0); };
  CHECK(f.value() == Approx(direct()));
  w.by = numbers{3.0, 2.0, 7.0};
  f.commit();
  CHECK(f.value() == Approx(direct()));
  w.by = od::update(std::move(w.by.get()), 0, 0.5);
  f.commit();
  CHECK(f.value() == Approx(direct()));
}

TEST_CASE("a context that is global when incremental is called is one of the contexts of later updates") {
  doubling d;
  auto const plain = od::incremental(shifted_wave, 0.5, 1.0);
  auto f = [&] {
    od::scoped_global const doubled(d);
    return od::incremental(repeating(2), shifted_wave, 0.5, 1.0);
  }();
  CHECK(f.value() == 4.0 * std::sin(0.25) + 1.0);
  f.set<0>(2.0);
  f.commit();
  CHECK(f.value() == 4.0 * std::sin(4.0) + 1.0);
  CHECK(plain.value() == std::sin(0.25) + 1.0);
  CHECK(od::incremental(repeating(2), shifted_wave, 0.5, 1.0).value() == 2.0 * std::sin(0.25) + 1.0);
  observing h;
  od::scoped_global const observed(h);
  CHECK_THROWS_WITH(
      od::incremental(shifted_wave, 0.5, 1.0), Catch::Contains("a scoped_global with hooks is open"));
}

TEST_CASE("hooks observe all calls of the first run, and then those that a proposal recomputes") {
  for (od::compile_options const& o : executors()) {
    observing_calls l;
    numbers xs{1.0, 2.0, 3.0, -1.0};
    auto f = od::incremental(o, l, total, xs, 2.0);
    auto const all = [&](double a) {
      observing_calls direct;
      CHECK(f.value() == Approx(od::run(direct, total, xs, a)));
      return direct.observed;
    };
    CHECK(l.observed == all(2.0));
    l.observed.clear();
    f.set_at<0>(2, 5.0);
    f.propose();
    CHECK(l.observed == events{{'s', 5.0}, {'S', std::sin(5.0)}, {'m', std::sin(5.0)}});
    f.commit();
    f.commit();
    CHECK(l.observed.size() == 3);
    xs = od::update(xs, 2, 5.0);

    l.observed.clear();
    f.set<1>(3.0); // all iterations use it, so that the map is recomputed in full
    f.commit();
    CHECK(l.observed == all(3.0));

    for (int i = 0; i < 40; ++i) { // so often that plain runs would be chosen
      l.observed.clear();
      f.set_at<0>(i % 4, 10.0 + i);
      f.propose();
      if (i % 3 == 0) {
        f.rollback();
        CHECK(l.observed.size() == 3);
        continue;
      }
      f.commit();
      CHECK(l.observed.size() == 3);
      xs = od::update(xs, i % 4, 10.0 + i);
    }
    (void)all(3.0);
  }
}

TEST_CASE("hooks of a context without data observe the operations that a proposal recomputes") {
  counts_products::count = 0;
  auto f = od::incremental(counts_products{}, scaled_sum, numbers{1, 2, 3}, 0.5);
  CHECK(f.value() == 3.0);
  CHECK(counts_products::count == 3);
  f.set_at<0>(1, 4.0);
  f.propose();
  CHECK(counts_products::count == 4);
  f.commit();
  CHECK(f.value() == 4.0);
}

TEST_CASE("hooks observe neither rematerialised old values nor newly saved ones") {
  observing_sines l;
  auto f = od::incremental(l, rows_and_scale, numbers{1.0, 2.0, 3.0}, 2.0, true);
  CHECK(l.observed.size() == 3);
  l.observed.clear();
  f.set<1>(4.0); // a factor, after the sines
  f.commit();
  CHECK(l.observed.empty());
  f.set_at<0>(1, 0.5);
  f.commit();
  CHECK(l.observed == std::vector<double>{0.5});
  l.observed.clear();
  f.set<2>(false);
  f.commit();
  CHECK(l.observed.empty());
  CHECK(f.value() == 0.0);
  f.set<2>(true);
  f.commit();
  CHECK(l.observed.size() == 3);
  CHECK(f.value() == Approx(4.0 * (std::sin(1.0) + std::sin(0.5) + std::sin(3.0))));
}

TEST_CASE("hooks observe recomputed functions in contexts with rules and fields, and in copies") {
  observing_functions l;
  scaling s;
  auto f = od::incremental(od::compose(l, s), twice, 0.5, 1.0);
  CHECK(l.observed == std::vector<double>{0.5, 1.0});
  f.set<1>(2.0);
  f.commit();
  CHECK(l.observed == std::vector<double>{0.5, 1.0, 2.0});
  s.by = 2.0;
  f.commit(); // no argument of a function changed
  CHECK(l.observed.size() == 3);
  CHECK(f.value() == Approx(2.0 * (std::sin(0.5) + std::sin(2.0))));
  auto g = f;
  g.set<0>(3.0);
  g.commit();
  CHECK(l.observed == std::vector<double>{0.5, 1.0, 2.0, 3.0});
  CHECK(f.value() == Approx(2.0 * (std::sin(0.5) + std::sin(2.0))));
}

TEST_CASE("hooks observe no unaffected calls, and a loop from its first affected iteration on") {
  observing_sines l;
  auto f = od::incremental(l, recurrence, numbers{0.5, 0.25, 0.125, 1.0}, 2.0);
  CHECK(l.observed.size() == 4);
  l.observed.clear();
  f.set_at<0>(2, 0.75);
  f.commit();
  CHECK(l.observed.size() == 2); // two iterations
  l.observed.clear();
  f.set<1>(5.0);
  f.commit();
  CHECK(l.observed.empty());
}

namespace {
inline constexpr auto sum_of_sines = od::fn<"sum_of_sines">(
    [](auto const& xs) { return od::sum(od::map([](auto x) { return sin(x); }, xs)); });
struct sine_is_cosine : od::context {
  auto overdub(od::sin_t, auto x) { return od::cos(x); }
};
inline constexpr auto sum_of_cosines = od::fn<"sum_of_cosines">([](auto const& xs) {
  sine_is_cosine c;
  return od::run(c, sum_of_sines, xs);
});
} // namespace

TEST_CASE("a sum in a context whose rule does not apply to it is updated by the difference") {
  auto const explained = [](auto const& f) {
    auto followed = od::incremental(f, numbers{1, 2, 3, 4});
    followed.template set_at<0>(1, 0.5);
    followed.propose();
    return followed.explain();
  };
  auto const text = explained(sum_of_sines);
  CHECK(text.find("map: one iteration") != text.npos);
  CHECK(text.find("reduce: updated by the difference") != text.npos);
  CHECK(explained(sum_of_cosines) == text);
}
