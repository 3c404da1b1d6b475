// Constants made of a number alone, as T s = 0: they belong to no run until they meet a value in a call.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
using od::contexts::count;
using od::contexts::forward;

template <class X>
using type_of = std::remove_cvref_t<X>;

// ---- contexts with state, with and without metadata

struct counting : od::context {
  int calls = 0;
  std::vector<std::string> names;
  void before(od::callee auto const& f, auto const&...) {
    ++calls;
    names.emplace_back(f.name());
  }
};
struct other : counting {};

constexpr double weight_of(double weight) { return weight; }
constexpr double weight_of(od::none) { return 0.0; }

// The metadata of a value is its weight; the context decides that of a constant.
struct weighing : od::context {
  double of_constants;
  int calls = 0;
  explicit weighing(double weight) : of_constants(weight) {}
  template <class T>
  using metadata = double;
  double constant(auto const&) const { return of_constants; }
  auto overdub(od::elementwise auto f, auto const&... x) {
    ++calls;
    return od::tag(f(x.inner...), (0.0 + ... + weight_of(x.metadata)));
  }
};
// The same, for which a constant weighs nothing.
struct weighing_values : od::context {
  int calls = 0;
  template <class T>
  using metadata = double;
  auto overdub(od::elementwise auto f, auto const&... x) {
    ++calls;
    return od::tag(f(x.inner...), (0.0 + ... + weight_of(x.metadata)));
  }
};

constexpr auto square = od::fn<"square">([](auto x) { return x * x; });

// ---- what compiles, and its values

constexpr auto all_forms = od::fn<"all_forms">([](auto x) {
  using T = type_of<decltype(x)>;
  std::size_t const n = 3;
  T zero{};
  T a = 0, b = 1.5, c(2.5f), d = T(n), e = 7L;
  std::vector<T> v(n);
  std::vector<T> w(n, T(2));
  std::array<T, 2> pair{T(1), 4.0};
  T s{};
  s = 2.0;
  s = 1;
  for (T const& each : v) s += each;
  for (T const& each : w) s += each;
  return a + b + c + d + e + s + zero + pair[0] + pair[1] + x;
});

TEST_CASE("constants of all forms have the values that they have in plain C++") {
  double const expected = all_forms(0.25);
  CHECK(expected == 0.25 + 1.5 + 2.5 + 3 + 7 + 7 + 1 + 4);
  counting c;
  CHECK(od::run(c, all_forms, 0.25) == expected);
  weighing w(0.5);
  CHECK(od::run(w, all_forms, od::tag(0.25, 1.0)).inner == expected);
  weighing_values v;
  auto const weighed = od::run(v, all_forms, od::tag(0.25, 1.0));
  CHECK(weighed.inner == expected);
  CHECK(weighed.metadata == 1.0);
  CHECK(od::run(forward{}, all_forms, od::tag(0.25, 1.0)).metadata == 1.0);
  other o;
  CHECK(od::run(od::compose(c, o), all_forms, 0.25) == expected);
  CHECK(od::run(od::compose(c, w, o), all_forms, od::tag(0.25, 1.0)).inner == expected);
  CHECK(od::run(od::compose(w, c), all_forms, od::tag(0.25, 1.0)).inner == expected);
}

TEST_CASE("constants of integers and of float convert as in C++") {
  auto const f = od::fn<"f">([](auto x, auto n) {
    using F = type_of<decltype(x)>;
    using N = type_of<decltype(n)>;
    F s = 1.5;
    F t = n; // a value: no number is lost
    N i = 0, j(3u);
    auto const k = N(2);
    for (; i < n; ++i) s += x;
    return s + t + (j + k) * 0.5;
  });
  double const expected = f(0.25f, std::int16_t{4});
  counting c;
  CHECK(od::run(c, f, 0.25f, std::int16_t{4}) == expected);
}

template <class From, class To>
constexpr bool only_explicitly = std::is_constructible_v<To, From> && !std::is_convertible_v<From, To>;

TEST_CASE("conversions that may lose a number are explicit") {
  using I = od::value<int, counting>;
  using S = od::value<short, counting>;
  using F = od::value<float, counting>;
  using D = od::value<double, counting>;
  using B = od::value<bool, counting>;
  static_assert(std::is_convertible_v<int, S> && std::is_convertible_v<std::size_t, I>);
  static_assert(std::is_convertible_v<double, F> && std::is_convertible_v<std::size_t, F>);
  static_assert(only_explicitly<unsigned, S> && only_explicitly<long long, I> && only_explicitly<double, I>);
  static_assert(only_explicitly<bool, I> && only_explicitly<bool, D> && std::is_convertible_v<bool, B>);
  static_assert(!std::is_constructible_v<B, int> && !std::is_constructible_v<I, char const*>);
  static_assert(std::is_convertible_v<F, D> && only_explicitly<D, F> && only_explicitly<D, I>);
  static_assert(only_explicitly<B, D> && std::is_convertible_v<S, I> && only_explicitly<I, S>);
  CHECK(S(300).inner() == 300);
  CHECK(I(2.75).inner() == 2);
  CHECK_THROWS_AS(S(70000), od::type_error);
  CHECK_THROWS_AS((od::value<unsigned, counting>(-1)), od::type_error);
  CHECK_THROWS_AS((od::value<std::int64_t, counting>(~std::size_t{})), od::type_error);
  auto const f = od::fn<"f">([](auto x, auto n) {
    auto before = n++;
    static_assert(std::is_same_v<decltype(before), decltype(n)>);
    return type_of<decltype(n)>(x) + before - n--;
  });
  counting c;
  CHECK(od::run(c, f, 7.9, std::int16_t{4}) == 7 + 4 - 5);
}

TEST_CASE("compound assignment converts to the type of the variable, as in C++") {
  auto const f = od::fn<"f">([](auto x) {
    auto s = x;
    s *= 0.1;
    s += 1e-9;
    return s;
  });
  counting c;
  float s = 0.25f;
  s = static_cast<float>(s * 0.1);
  s = static_cast<float>(s + 1e-9);
  CHECK(od::run(c, f, 0.25f) == s);
  CHECK(c.names == std::vector<std::string>{"f", "mul", "convert", "add", "convert"});
}

TEST_CASE("a value has no flag for constants") {
  static_assert(sizeof(od::value<double, counting>) == sizeof(double) + sizeof(od::detail::ref<counting>));
  static_assert(sizeof(od::value<double, forward>) == 2 * sizeof(double));
}

// ---- what contexts see

TEST_CASE("an operation on constants alone does not touch a context, and one with a value does") {
  auto const f = od::fn<"f">([](auto x) {
    using T = type_of<decltype(x)>;
    T a = 2;
    a = a * T(3) + sqrt(T(16)); // 10
    bool const larger = a > T(9) && a != T(11);
    return larger ? a + x : x;
  });
  counting c;
  CHECK(od::run(c, f, 0.5) == 10.5);
  CHECK(c.names == std::vector<std::string>{"f", "add"});
  weighing w(100.0);
  auto const weighed = od::run(w, f, od::tag(0.5, 1.0));
  CHECK(weighed.inner == 10.5);
  CHECK(weighed.metadata == 101.0); // that of one constant, and x
  CHECK(w.calls == 1);
}

TEST_CASE("a constant in an operation has the metadata that the scope's lift gives") {
  auto const lifted = od::fn<"lifted">([](od::scope auto& cx, auto x) { return cx.lift(2.0) * x; });
  auto const made = od::fn<"made">([](auto x) { return type_of<decltype(x)>(2) * x; });
  auto const number = od::fn<"number">([](auto x) { return 2.0 * x; });
  auto const same = [&](auto&& context) {
    auto const x = od::tag(3.0, 0.25);
    auto const expected = od::run(context, lifted, x);
    for (auto const& result : {od::run(context, made, x), od::run(context, number, x)}) {
      CHECK(result.inner == expected.inner);
      CHECK(result.metadata == expected.metadata);
    }
  };
  weighing w(7.0);
  weighing_values v;
  counting c;
  same(w);
  same(v);
  same(forward{});
  same(od::compose(c, w));
  same(od::compose(w, c));
  same(od::compose(forward{}, c));
}

TEST_CASE("a constant that a function returns, or stores in a tree, has the metadata of a constant") {
  auto const f = od::fn<"f">([](auto x) { return std::tuple{x, type_of<decltype(x)>(2)}; });
  weighing w(7.0);
  auto const [x, constant] = od::run(w, f, od::tag(3.0, 0.25));
  CHECK(x.metadata == 0.25);
  CHECK(constant.inner == 2.0);
  CHECK(constant.metadata == 7.0);
  counting c;
  CHECK(std::get<1>(od::run(od::compose(c, w), f, od::tag(3.0, 0.25))).metadata == 7.0);
  CHECK(std::get<1>(od::run(od::compose(w, c), f, od::tag(3.0, 0.25))).metadata == 7.0);
}

TEST_CASE("an argument that is a constant is a value of the contexts in the function's body, if another "
          "argument is one") {
  auto const outer = od::fn<"outer">([](auto x) {
    auto const f = od::fn<"f">([](auto a, auto b) { return a * a + b; });
    return f(type_of<decltype(x)>(3), x);
  });
  counting c;
  CHECK(od::run(c, outer, 0.5) == 9.5);
  CHECK(c.names == std::vector<std::string>{"outer", "f", "mul", "add"});
  other o;
  counting d;
  CHECK(od::run(od::compose(d, o), outer, 0.5) == 9.5);
  CHECK(d.names == std::vector<std::string>{"outer", "f", "mul", "add"});
  CHECK(o.calls == d.calls);
}

TEST_CASE("a tree finds its run in any leaf that is a value") {
  auto const total = od::fn<"total">([](auto const& v, auto const& pair) {
    auto s = v[0];
    for (std::size_t i = 1; i < v.size(); ++i) s = s + v[i];
    return s * std::get<0>(pair) * std::get<1>(pair);
  });
  auto const outer = od::fn<"outer">([=](auto x) {
    using T = type_of<decltype(x)>;
    std::vector<T> v(3);
    v[1] = 4.0;
    auto const of_constants = total(v, std::pair{T(1), T(2)});
    v[2] = x;
    return of_constants + total(v, std::pair{T(2), T(1)}) + total(std::vector<T>{T(1)}, std::pair{T(2), x});
  });
  double const expected = 8.0 + 2.0 * (4.0 + 0.5) + 2.0 * 0.5;
  CHECK(outer(0.5) == expected);
  counting c;
  CHECK(od::run(c, outer, 0.5) == expected);
  CHECK(std::count(c.names.begin(), c.names.end(), "total") == 2);
  weighing w(0.0);
  CHECK(od::run(w, outer, od::tag(0.5, 1.0)).inner == expected);
}

// ---- functions of constants alone

TEST_CASE("a function of constants alone runs its body, and no context intercepts the call") {
  auto const both = od::fn<"both">([](auto x) { return square(type_of<decltype(x)>(2)) + x; });
  auto const f = od::fn<"f">([=](auto x) {
    using T = type_of<decltype(x)>;
    return square(T(3)) + both(T(1)) + square(x);
  });
  CHECK(f(2.0) == 9.0 + 5.0 + 4.0);
  counting c;
  CHECK(od::run(c, f, 2.0) == 18.0);
  CHECK(c.names == std::vector<std::string>{"f", "square", "mul", "add"});
  weighing w(1.0);
  CHECK(od::run(w, f, od::tag(2.0, 10.0)).metadata == 21.0); // of two products of x, and of one constant
}

TEST_CASE("a body that captures a value, called with constants, computes with it in its contexts") {
  auto const f = od::fn<"f">([](auto x) {
    using T = type_of<decltype(x)>;
    auto const times_x = od::fn<"times_x">([=](auto y) { return x * y; });
    auto const plus = od::fn<"plus">([=](auto y) { return square(x) + y; });
    auto const first = times_x(T(3));
    return first * plus(T(1));
  });
  auto const derivative = [](double x) { return 9.0 * x * x + 3.0; }; // of 3 x (x^2 + 1)
  weighing w(0.0);
  counting c;
  CHECK(od::run(c, f, 2.0) == 30.0);
  CHECK(c.names == std::vector<std::string>{"f", "mul", "square", "mul", "add", "mul"});
  CHECK(od::run(forward{}, f, od::tag(2.0, 1.0)).metadata == derivative(2.0));
  CHECK(od::run(od::compose(c, forward{}), f, od::tag(2.0, 1.0)).metadata == derivative(2.0));
  CHECK(od::run(od::compose(forward{}, c), f, od::tag(2.0, 1.0)).metadata == derivative(2.0));
}

TEST_CASE("a leaf of constants alone is computed") {
  auto const half = od::leaf<"half">([](double x) { return x / 2; }, od::effects::pure);
  auto const f = od::fn<"f">([=](auto x) { return half(type_of<decltype(x)>(3)) + x; });
  counting c;
  CHECK(od::run(c, f, 1.0) == 2.5);
  CHECK(c.names == std::vector<std::string>{"f", "add"});
}

// ---- what needs the run

template <class F>
std::string text_of(F const& f) {
  try {
    f();
  } catch (od::rejected_program const& error) {
    return error.what();
  }
  return "nothing";
}

struct answering : counting {
  auto overdub(decltype(square), auto x) { return 2.0 * x; }
};

TEST_CASE(
    "a call of constants alone that a context would change, or whose control flow it would see, throws") {
  std::string const advice = "with constants alone, as T s = 0, which belong to no run";
  counting c;
  auto const branch = od::fn<"branch">([](auto x) {
    using T = type_of<decltype(x)>;
    return od::if_(
        T(1) < T(2), [&] { return x; }, [&] { return x + 1.0; });
  });
  auto const sum = od::fn<"sum">(
      [](auto x) { return od::loop(3, type_of<decltype(x)>(0), [&](auto, auto s) { return s + x; }); });
  for (std::string const& text :
       {text_of([&] { od::run(c, branch, 1.0); }), text_of([&] { od::run(c, sum, 1.0); })})
    CHECK(text.find(advice) != std::string::npos);
  answering a;
  auto const answered = od::fn<"answered">([](auto x) { return square(type_of<decltype(x)>(3)) + x; });
  CHECK(text_of([&] { od::run(a, answered, 1.0); }).find(advice) != std::string::npos);
  // In contexts without state, which are decided by their types, these are ordinary calls.
  CHECK(od::run(forward{}, branch, od::tag(1.0, 1.0)).metadata == 1.0);
  CHECK(od::run(forward{}, sum, od::tag(1.0, 1.0)).metadata == 3.0);
}

TEST_CASE("a lifted constant starts a loop") {
  auto const sum = od::fn<"sum">([](od::scope auto& cx, auto x) {
    return od::loop(3, cx.lift(0.0), [&](auto, auto s) { return s + x; });
  });
  counting c;
  CHECK(od::run(c, sum, 1.5) == 4.5);
}

} // namespace
