// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
#include <overdub/compile/compile.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>
#include <overdub/stage/evaluate.hpp>

#include <catch2/catch.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace od = overdub;

namespace {

// Multiplies each product by a member.
struct scale : od::context {
  double by;
  explicit scale(double b) : by(b) {}
  scale(scale const&) = default;
  template <class X, class Y>
  requires(std::same_as<od::plain_t<X>, double>&& std::same_as<od::plain_t<Y>, double>) auto overdub(
      od::mul_t const& m, X const& x, Y const& y) {
    return m(m(x, y), by);
  }
};
// The same, with a member that is not trivially copyable.
struct scale_by_function : od::context {
  std::function<double()> by;
  explicit scale_by_function(double b) : by([b] { return b; }) {}
  template <class X, class Y>
  requires(std::same_as<od::plain_t<X>, double>&& std::same_as<od::plain_t<Y>, double>) auto overdub(
      od::mul_t const& m, X const& x, Y const& y) {
    return m(m(x, y), by());
  }
};
// The same, with a hook.
struct observed_scale : scale {
  using scale::scale;
  std::vector<double> products;
  void after(od::mul_t const&, double result, double, double) { products.push_back(result); }
};

constexpr auto triple = od::fn<"triple">([](auto x) { return x * 3.0; });
constexpr auto in_two = od::fn<"in_two">([](auto x) {
  scale tens(10.0), twenties(20.0);
  auto const first = od::run(tens, triple, x);
  return first * 100.0 + od::run(twenties, triple, x);
});
// The objects of the loop have one address.
template <class Scale>
constexpr auto in_each_of = od::fn<"in_each">([](auto x) {
  auto sum = x;
  for (double const by : {10.0, 20.0, 10.0}) {
    Scale each(by);
    sum = sum * 2.0 + od::run(each, triple, x);
  }
  return sum;
});
observed_scale first_global(10.0), second_global(20.0);
constexpr auto in_globals = od::fn<"in_globals">([](auto x) {
  auto const first = od::run(first_global, triple, x);
  return first * 100.0 + od::run(second_global, triple, x);
});

constexpr auto left = od::fn<"left">([](auto x) { return triple(x) + 0.0; });
constexpr auto right = od::fn<"right">([](auto x) { return triple(x) - 0.0; });
constexpr auto both = od::fn<"both">([](auto x) {
  auto const a = left(x);
  return a * 100.0 + right(x);
});
struct enters_members : od::context {
  scale a{10.0}, b{20.0};
  scale& enter(decltype(left)) { return a; }
  scale& enter(decltype(right)) { return b; }
  enters_members& enter(od::function auto const&) { return *this; }
};
struct enters_values : od::context {
  scale enter(decltype(left)) { return scale(10.0); }
  scale enter(decltype(right)) { return scale(20.0); }
  enters_values& enter(od::function auto const&) { return *this; }
};
// Returns one object, whose members it changes.
struct enters_changed : od::context {
  scale changed{0.0};
  scale& enter(decltype(left)) { return changed.by = 10.0, changed; }
  scale& enter(decltype(right)) { return changed.by = 20.0, changed; }
  enters_changed& enter(od::function auto const&) { return *this; }
};

template <class F>
double staged(F const& f, double x) {
  return od::evaluate<double>(od::stage(f, od::signature<double>), x);
}

} // namespace

TEST_CASE("contexts of one class in a staged function are distinguished by their members") {
  CHECK(in_two(1.0) == 3060.0);
  CHECK(staged(in_two, 1.0) == 3060.0);
  CHECK(od::gradient(in_two)(1.0) == 3060.0);
  CHECK(staged(in_each_of<scale>, 1.0) == in_each_of<scale>(1.0));
  CHECK(staged(in_each_of<scale_by_function>, 1.0) == in_each_of<scale_by_function>(1.0));
}

TEST_CASE("contexts of one class and equal members are staged once") {
  auto const p = od::stage(in_each_of<scale>, od::signature<double>);
  int functions = 0;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (!p.is_erased(od::ir::function_id{i})) ++functions;
  CHECK(functions == 3); // in_each, and triple in two contexts
}

TEST_CASE("contexts of one class with hooks and rules are distinguished, and each observes its own calls") {
  first_global.products.clear(), second_global.products.clear();
  CHECK(in_globals(1.0) == 3060.0);
  auto const first = std::exchange(first_global.products, {});
  auto const second = std::exchange(second_global.products, {});
  CHECK(staged(in_globals, 1.0) == 3060.0);
  CHECK(first_global.products == first);
  CHECK(second_global.products == second);
}

TEMPLATE_TEST_CASE(
    "contexts of one class that enter returns are distinguished", "", enters_members, enters_values,
    enters_changed) {
  TestType direct, stages, rewrites, evaluates;
  CHECK(od::run(direct, both, 1.0) == 3060.0);
  CHECK(od::evaluate<double>(od::stage(stages, both, od::signature<double>), 1.0) == 3060.0);
  auto const p = od::stage(both, od::signature<double>);
  CHECK(od::evaluate<double>(od::overdub(rewrites, p), 1.0) == 3060.0);
  CHECK(
      od::run(
          evaluates, [&](auto x) { return od::evaluate<double>(p, x); }, 1.0) == 3060.0);
}

namespace {
constexpr auto in_local = od::fn<"in_local">([](auto x) {
  observed_scale local(10.0);
  return od::run(local, triple, x);
});
constexpr auto in_temporary =
    od::fn<"in_temporary">([](auto x) { return od::run(observed_scale(10.0), triple, x); });
} // namespace

TEST_CASE("a context with hooks that is a variable of a staged function is an error") {
  CHECK(in_local(1.0) == 30.0);
  CHECK_THROWS_WITH(
      od::stage(in_local, od::signature<double>),
      Catch::Contains("the context is a local variable of a function that is staged"));
  CHECK_THROWS_AS(od::stage(in_temporary, od::signature<double>), od::staging_error);
}

namespace {
constexpr auto weighted = od::fn<"weighted">([](auto const& a, auto const& b) {
  auto sum = a[0];
  for (std::size_t i = 1; i < a.size(); ++i) sum = sum * 10.0 + a[i];
  for (auto const& x : b) sum = sum * 10.0 + x;
  return sum + 0.5 * static_cast<double>(a.size());
});
constexpr auto of_lengths = od::fn<"of_lengths">([](auto x) {
  using list = std::vector<decltype(x)>;
  auto const first = weighted(list{x}, list{x * 2.0, x * 3.0});
  auto const second = weighted(list{x * 4.0, x * 5.0}, list{x * 6.0});
  return first * 10000.0 + second + weighted(list{x, x, x}, list{x}) + weighted(list{x}, list{x * 7.0, x});
});
constexpr auto rows = od::fn<"rows">([](auto const& m) {
  auto sum = m[0][0] * 0.0;
  for (std::size_t i = 0; i < m.size(); ++i)
    for (auto const& x : m[i]) sum = sum + x * static_cast<double>(i + 1);
  return sum;
});
constexpr auto of_nested_lengths = od::fn<"of_nested_lengths">([](auto x) {
  using list = std::vector<decltype(x)>;
  auto const first = rows(std::vector<list>{{x}, {x, x}});
  return first * 100.0 + rows(std::vector<list>{{x, x}, {x}});
});
} // namespace

namespace {
constexpr auto of_nothing = od::fn<"of_nothing">([](auto x, std::tuple<> const&) { return x * 2.0; });
constexpr auto calls_of_nothing =
    od::fn<"calls_of_nothing">([](auto x) { return of_nothing(x, std::tuple<>{}); });
} // namespace

TEST_CASE("a staged function takes an empty tuple") { CHECK(staged(calls_of_nothing, 3.0) == 6.0); }

TEST_CASE("calls of a staged function are distinguished by the lengths of its std::vector arguments") {
  CHECK(staged(of_lengths, 1.0) == of_lengths(1.0));
  CHECK(staged(of_nested_lengths, 1.0) == of_nested_lengths(1.0));
  CHECK(of_nested_lengths(1.0) == 504.0);
}

namespace {
constexpr auto in_many = od::fn<"in_many">([](auto x) {
  auto sum = x * 0.0;
  for (int i = 1; i <= 100; ++i) sum = sum + od::run(scale(i), triple, x);
  return sum;
});
constexpr auto deeper =
    od::fn<"deeper">([](od::scope auto& cx, auto const& list) -> std::remove_cvref_t<decltype(list[0])> {
      auto longer = list;
      longer.push_back(list.back() * 0.5);
      return cx.self(longer);
    });
constexpr auto endless = od::fn<"endless">([](auto x) { return deeper(std::vector{x}); });
} // namespace

TEST_CASE("a function may be staged in any number of contexts, and not in itself without limit") {
  auto const p = od::stage(in_many, od::signature<double>);
  CHECK(od::evaluate<double>(p, 1.0) == in_many(1.0));
  CHECK_THROWS_WITH(
      od::stage(endless, od::signature<double>),
      Catch::Contains("signatures of deeper, each nested in the one before") &&
          Catch::Contains("the lengths of its vectors"));
}

namespace {
// Contexts whose storage is freed, and reused by the next one.
struct scale_by_vector : od::context {
  std::vector<double> by;
  explicit scale_by_vector(double b) : by{b} {}
  template <class X, class Y>
  requires(std::same_as<od::plain_t<X>, double>&& std::same_as<od::plain_t<Y>, double>) auto overdub(
      od::mul_t const& m, X const& x, Y const& y) {
    return m(m(x, y), by[0]);
  }
};
constexpr auto in_vectors = od::fn<"in_vectors">([](auto x) {
  auto sum = x * 0.0;
  for (double const b : {10.0, 20.0, 30.0}) sum = sum * 100.0 + od::run(scale_by_vector(b), triple, x);
  return sum;
});
struct scale_by_table : od::context {
  double by[std::size_t{1} << 21];
  scale_by_table() { by[0] = 10.0; }
  template <class X, class Y>
  requires(std::same_as<od::plain_t<X>, double>&& std::same_as<od::plain_t<Y>, double>) auto overdub(
      od::mul_t const& m, X const& x, Y const& y) {
    return m(m(x, y), by[0]);
  }
};
scale_by_table large;

constexpr auto product = od::fn<"product">([](auto x) { return x * x; });
constexpr auto product_and_more = od::fn<"product_and_more">([](auto x, auto y) {
  auto const a = product(x);
  return a * y;
});
struct enters_another : od::context {
  double more = 1;
  int products = 0;
  enters_another* other = nullptr;
  auto& enter(decltype(product) const&) { return other != nullptr ? *other : *this; }
  template <class X, class Y>
  requires(std::same_as<od::plain_t<X>, double>&& std::same_as<od::plain_t<Y>, double>) auto overdub(
      od::mul_t const& m, X const& x, Y const& y) {
    return m(x, y) + more;
  }
  void before(od::mul_t const&, double, double) { ++products; }
};

struct observes_products : od::context {
  std::vector<double> products;
  void after(od::mul_t const&, double result, double, double) { products.push_back(result); }
};
constexpr auto in_compiled = od::fn<"in_compiled">([](auto x) {
  observes_products local;
  return od::compile(local, triple, od::signature<double>)(x);
});
} // namespace

TEST_CASE("contexts whose members own memory are distinguished") {
  CHECK(in_vectors(1.0) == 306090.0);
  CHECK(od::evaluate<double>(od::stage(in_vectors, od::signature<double>), 1.0) == 306090.0);
}

TEST_CASE("a large context does not overflow the stack") {
  CHECK(od::evaluate<double>(od::stage(large, triple, od::signature<double>), 1.0) == 30.0);
}

TEST_CASE("a context of the same class that enter returns has its own members and hooks in programs, too") {
  enters_another outer, inner;
  inner.more = 7;
  outer.other = &inner;
  auto const check = [&](auto const& run) {
    outer.products = inner.products = 0;
    CHECK(run() == 19.5);
    CHECK(outer.products == 1);
    CHECK(inner.products == 1);
  };
  constexpr auto numbers = od::signature<double, double>;
  auto const p = od::stage(product_and_more, numbers);
  check([&] { return od::run(outer, product_and_more, 1.5, 2.0); });
  check([&] { return od::evaluate<double>(od::stage(outer, product_and_more, numbers), 1.5, 2.0); });
  check([&] { return od::evaluate<double>(od::overdub(outer, p), 1.5, 2.0); });
  check([&] {
    return od::run(
        outer, [&](auto x, auto y) { return od::evaluate<double>(p, x, y); }, 1.5, 2.0);
  });
}

TEST_CASE("a local context for which a function is compiled cannot be observed by a staged function") {
  CHECK(in_compiled(1.0) == 3.0);
  CHECK_THROWS_WITH(
      od::stage(in_compiled, od::signature<double>),
      Catch::Contains("is a local variable of a function that is staged"));
}
