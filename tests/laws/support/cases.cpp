#include "laws/support/cases.hpp"

#include "laws/functions.hpp"
#include "property.hpp"

#include <overdub/stage/stage.hpp>

#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cases {
namespace {

using namespace overdub;

// Random arguments. C++ must not overflow integers, where programs wrap around.
template <class T>
T random() {
  if constexpr (detail::is_array<T>) {
    std::vector<typename T::value_type> elements;
    for (int n = *rc::gen::inRange(0, 20); n > 0; --n) elements.push_back(random<typename T::value_type>());
    return T::copy_of(elements);
  } else if constexpr (std::is_same_v<T, i64>)
    return *rc::gen::inRange<i64>(-1000, 1001);
  else
    return any<T>();
}

// Hand-made arguments: six rows of each type. Rows of several arguments have different values of each.
constexpr std::size_t rows = 6;
template <class T>
T chosen(std::size_t row) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>)
    return row % 2 == 0;
  else if constexpr (std::is_same_v<T, i64>) {
    constexpr i64 numbers[rows] = {0, 1, -1, 2, 7, 10};
    return numbers[row];
  } else if constexpr (detail::is_array<T>) {
    using E = typename T::value_type;
    constexpr i64 sizes[rows] = {0, 1, 2, 7, 8, 21};
    std::vector<E> elements;
    for (i64 i = 0; i < sizes[row]; ++i)
      elements.push_back(static_cast<E>((i * 5 + static_cast<i64>(row)) % 11 - 4) / static_cast<E>(2));
    return T::copy_of(elements);
  } else {
    T const numbers[rows] = {T{0}, T{1.5}, T{-2.25}, T(0.001), limits::infinity(), limits::quiet_NaN()};
    return numbers[row];
  }
}

template <class X>
void add_leaves(std::vector<datum>& all, X const& x) {
  if constexpr (std::is_constructible_v<datum, X const&>)
    all.push_back(datum(x));
  else
    std::apply([&](auto const&... child) { (add_leaves(all, child), ...); }, x);
}

template <class F, class... A>
sample make(functions::item<F, A...> const& each) {
  sample made;
  made.name = std::string(F::name()) + (std::is_same_v<types<A...>, types<array<float>>> ? "_f32" : "");
  made.program = stage(each.f, each.arguments);
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t next = row;
    made.by_hand.push_back({datum(chosen<A>(next++ % rows))...});
  }
  made.draw = [] { return arguments{datum(random<A>())...}; };
  made.native = [f = each.f](arguments const& a) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return executors::outcome_of([&] {
        std::vector<datum> leaves;
        add_leaves(leaves, f(a[I].template as<A>()...));
        return leaves;
      });
    }
    (std::index_sequence_for<A...>{});
  };
  return made;
}

} // namespace

std::vector<sample> const& all() {
  static std::vector<sample> const made = std::apply(
      [](auto const&... each) {
        std::vector<sample> result;
        (result.push_back(make(each)), ...);
        return result;
      },
      functions::all);
  return made;
}

} // namespace cases
