// The values of a program that is evaluated in the contexts of a stack: a cell holds a value of one of several C++ types.
#pragma once

#include <overdub/call/hook.hpp>
#include <overdub/ir/function.hpp>
#include <overdub/ir/literal_bits.hpp>
#include <overdub/stage/any_of.hpp>
#include <overdub/stage/symbol.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {

/// Thrown if a program cannot be evaluated: the arguments are wrong, or it needs a feature that only other executors have.
struct OVERDUB_EXPORTED evaluation_error : rejected_program {
  using rejected_program::rejected_program;
};

/// Identifies an operation by its function and its node; `nothing` stands for no operation.
struct evaluation_place {
  ir::function_id function = ir::nothing;
  ir::node_id operation = ir::nothing;
};

namespace detail {

// Evaluation supports scalars, and arrays of rank 1 and 2.
using scalar_types = types<bool, i64, float, double>;
template <class List>
struct array_types;
template <class... T>
struct array_types<types<T...>> {
  using type = types<array<T>...>;
};
using vector_types = array_types<scalar_types>::type;
using matrix_types = array_types<vector_types>::type;

template <class S, class List>
struct cell_of;
template <class S, class... T>
struct cell_of<S, types<T...>> {
  using type = any_of<wrap_t<S, T>...>;
};
template <class S>
using cell = typename cell_of<S, concatenated_t<scalar_types, vector_types, matrix_types>>::type;
template <class S>
using element_cell = typename cell_of<S, concatenated_t<scalar_types, vector_types>>::type;
template <class S>
using array_cell = typename cell_of<S, concatenated_t<vector_types, matrix_types>>::type;

// Whether X is a list of values of cell types: several arguments or results of a control primitive of a program.
template <class X>
inline constexpr bool is_list = false;
template <class... T>
inline constexpr bool is_list<std::vector<any_of<T...>>> = true;

// The value of a list of one value; nothing, if the list has several.
template <class Any>
Any one_of_list(std::vector<Any> const& list) {
  return list.size() == 1 ? list[0] : Any{};
}
// What hooks receive for a list: its value, if there is one. A list is not a number.
struct listed_value : cell<stack<>> {
  listed_value() = default;
  explicit listed_value(cell<stack<>> value) : cell<stack<>>(std::move(value)) {}
  operator double() const = delete;
};
template <class X>
requires is_list<X>
struct hook_argument<X> {
  static listed_value of(X const& list) {
    auto const value = one_of_list(list);
    listed_value made;
    if (value) value.visit([&](auto const& held) { made = listed_value(make_concrete{}(held)); });
    return made;
  }
};

// Calls f(std::type_identity<T>) with the C++ type T of scalars of type t.
template <class F>
auto with_scalar(ir::scalar t, F const& f) {
  switch (t) {
  case ir::scalar::boolean:
    return f(std::type_identity<bool>{});
  case ir::scalar::i64:
    return f(std::type_identity<i64>{});
  case ir::scalar::f32:
    return f(std::type_identity<float>{});
  case ir::scalar::f64:
    return f(std::type_identity<double>{});
  default:
    throw evaluation_error(
        message("overdub: evaluate: programs are evaluated on bool, i64, f32, f64 and arrays of them; keys, "
                "opaque objects and function values cannot be arguments, results or states of loops"));
  }
}

// Calls f(std::type_identity<T>) with the C++ type T of values of type t.
template <class F>
auto with_type(ir::type t, F const& f) {
  switch (t.rank) {
  case 0:
    return with_scalar(t.element, f);
  case 1:
    return with_scalar(
        t.element, [&]<class T>(std::type_identity<T>) { return f(std::type_identity<array<T>>{}); });
  case 2:
    return with_scalar(
        t.element, [&]<class T>(std::type_identity<T>) { return f(std::type_identity<array<array<T>>>{}); });
  default:
    throw evaluation_error(message(
        "overdub: evaluate: an array of rank %d; evaluation goes up to rank 2, use an executable", t.rank));
  }
}

// The value of a literal as a C++ number.
template <class T>
T literal_value(ir::function const& f, ir::value_id v) {
  return ir::number_of_bits<T>(f.bits_of(v));
}

} // namespace detail
} // namespace overdub
