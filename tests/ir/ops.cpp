// Run by g++: it takes each operation in contexts; the sanitizers run stage and evaluate.
// Every row of the table of operations, on every kind of number, in contexts that change nothing.
#include "property.hpp"

#include <overdub/overdub.hpp>
#include <overdub/special.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <typeinfo>

namespace {

using namespace overdub;

struct no_op : context {};
struct observing : context {
  int observed = 0;
  void before(callee auto, auto const&...) { ++observed; }
  void after(callee auto, auto const&, auto const&...) { ++observed; }
};
struct answering : context {
  auto overdub(callee auto f, auto... x) { return f(x...); }
};
struct tagging : context {
  template <class T>
  using metadata = int;
  auto constant(auto const&) { return 1; }
};

// The result, or nothing if an integer is divided by zero.
template <class F, class... X>
auto outcome(F const& f, X... x) -> std::optional<decltype(f(x...))> {
  try {
    return f(x...);
  } catch (division_by_zero const&) {
    return std::nullopt;
  }
}

// One function for all contexts, of which there are many.
void agree(bool do_agree, char const* operation) {
  RC_LOG() << operation;
  RC_ASSERT(do_agree);
}

template <class Context, class Op, class... X>
void same_in(Context contexts, Op op, X... x) {
  auto const body = [](auto... y) { return Op{}(y...); };
  auto const plain = outcome(op, x...);
  auto const there = outcome([&](auto... y) { return untag(overdub::run(contexts, body, y...)); }, x...);
  agree(plain.has_value() == there.has_value() && (!plain || same_bits(*plain, *there)), typeid(op).name());
}

template <class Op, class... X>
consteval bool takes() {
  using Kind = kind_of<Op>;
  if (std::is_same_v<Kind, kind::indexed>) return false;
  if (std::is_same_v<Kind, kind::bitwise> || std::is_same_v<Op, rem_t>) return (std::is_integral_v<X> && ...);
  if (std::is_same_v<Kind, kind::math>) return (std::is_floating_point_v<X> && ...);
  if (std::is_same_v<Op, select_t>) return false;
  return true;
}

template <class... X, class Context>
void whole_table_in(Context contexts, X... given) {
  auto const check = [&]<class Op, class... Y>(Op op, Y... y) {
    if constexpr (takes<Op, Y...>()) same_in(contexts, op, y...);
  };
  auto const [x, y, z] = std::tuple{given...};
  (void)z;
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) check(overdub::NAME, x);
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) check(overdub::NAME, x, y);
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                            \
  check(overdub::NAME, x, y, z);
#include <overdub/core/ops.def>
  same_in(contexts, overdub::select, x < y, x, y);
}

template <class X, class Y = X, class Z = X, class Context>
void on_random_numbers(Context contexts) {
  property([&] { whole_table_in(contexts, any<X>(), any<Y>(), any<Z>()); });
}

} // namespace

TEST_CASE("every operation has the same bits in a context that does nothing, and in four of them") {
  on_random_numbers<double>(no_op{});
  on_random_numbers<double>(overdub::compose(no_op{}, no_op{}, no_op{}, no_op{}));
  on_random_numbers<float>(no_op{});
}

TEST_CASE("every operation has the same bits with hooks, rules that pass calls on, and metadata") {
  on_random_numbers<double>(observing{});
  on_random_numbers<double>(answering{});
  on_random_numbers<double>(tagging{});
  on_random_numbers<float>(overdub::compose(observing{}, tagging{}, answering{}, observing{}));
}

TEST_CASE("every operation on integers has the same result, or the same exception, in contexts") {
  on_random_numbers<i64>(no_op{});
  on_random_numbers<i64>(overdub::compose(observing{}, tagging{}, answering{}));
  on_random_numbers<std::int32_t>(no_op{});
  on_random_numbers<std::int16_t>(no_op{});
}

TEST_CASE("operations on numbers of two types convert in a context as they do in plain C++") {
  on_random_numbers<double, float, double>(no_op{});
  on_random_numbers<float, double, float>(overdub::compose(observing{}, tagging{}));
  on_random_numbers<double, std::int32_t, float>(no_op{});
  on_random_numbers<std::int32_t, i64, std::int16_t>(overdub::compose(observing{}, tagging{}));
}

TEST_CASE("operations with an index have the same bits in a context") {
  property([] {
    same_in(no_op{}, overdub::ldexp, any<double>(), any<int>());
    same_in(overdub::compose(observing{}, tagging{}), overdub::ldexp, any<float>(), any<i64>());
    same_in(no_op{}, overdub::polygamma, *rc::gen::inRange(1, 4), between(0.1, 30.0));
  });
}

TEST_CASE("ldexp takes exponents of every integer type, and saturates") {
  CHECK(overdub::ldexp(1.0, 3u) == 8.0);
  CHECK(overdub::ldexp(1.0, std::size_t{3}) == 8.0);
  CHECK(overdub::ldexp(1.0, std::int8_t{-3}) == 0.125);
  CHECK(overdub::ldexp(1.0L, 5000) == std::ldexp(1.0L, 5000));
  CHECK(overdub::ldexp(1.0, (i64{1} << 32) + 1) == std::numeric_limits<double>::infinity());
  CHECK(overdub::ldexp(1.0, -(i64{1} << 32)) == 0.0);
}

TEST_CASE("an operator on values is the operation of the table") {
  property([] {
    double const a = any<double>();
    double const b = any<double>();
    RC_ASSERT(same_bits(
        run(
            no_op{}, [](auto x, auto y) { return x + y * x - y / x; }, a, b),
        a + b * a - b / a));
    RC_ASSERT(
        run(
            no_op{}, [](auto x, auto y) { return x < y && !(x == y); }, a, b) == (a < b && !(a == b)));
    i64 const i = any<std::int32_t>();
    i64 const j = any<std::int32_t>();
    auto const bits = [](auto x, auto y) { return ((x & y) | (x ^ y)) << 3 >> 2; };
    RC_ASSERT(run(no_op{}, bits, i, j) == bits(i, j));
  });
}
