// The types of calls that create, read and update arrays, and the hooks for such calls, as data.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/stage/cell.hpp>
#include <overdub/stage/observed.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace overdub::detail {

// A call of F on an array of type A, or one that creates it: the operation, and the types of the result and of the arguments.
template <class F, class A>
struct array_call;
#define OVERDUB_ARRAY_CALL(F, OPERATION, ...)                                                                \
  template <class A>                                                                                         \
  struct array_call<F, A> {                                                                                  \
    static constexpr ir::op operation = ir::op::OPERATION;                                                   \
    using type = types<__VA_ARGS__>;                                                                         \
  };
OVERDUB_ARRAY_CALL(array_size_t, length, i64, A)
OVERDUB_ARRAY_CALL(at_t, at, typename A::value_type, A, i64)
OVERDUB_ARRAY_CALL(slice_t, slice, A, A, i64, i64)
OVERDUB_ARRAY_CALL(update_t, update, A, A, i64, typename A::value_type)
OVERDUB_ARRAY_CALL(fill_t, fill, A, i64, typename A::value_type)
OVERDUB_ARRAY_CALL(iota_t, iota, array<i64>, i64)
OVERDUB_ARRAY_CALL(concat_t, concat, A, A, A)
OVERDUB_ARRAY_CALL(gather_t, gather, A, A, array<i64>)
#undef OVERDUB_ARRAY_CALL

// Such a call at run time, with the hooks for it.
struct observed_array_call {
  ir::type result;
  std::span<observation const> contexts;
};
struct array_calls {
  ir::op operation;
  std::string_view name;
  std::array<std::array<observed_array_call, 4>, 2> by_type; // by the rank and the elements' type

  // Throws evaluation_error if no cell type is this array type.
  observed_array_call const& of(ir::type array) const {
    with_type(array, [](auto) {});
    return by_type[array.rank - 1u][static_cast<std::size_t>(array.element) - 1];
  }
};
template <class S, class F, class R, class... X>
consteval observed_array_call observed_call_of(types<R, X...>) {
  return {ir_type_of<R>, observations<S, F, wrap_t<S, R>, wrap_t<S, X>...>};
}
template <class S, class F, class... A>
consteval std::array<observed_array_call, sizeof...(A)> observed_calls_on(types<A...>) {
  return {observed_call_of<S, F>(typename array_call<F, A>::type{})...};
}
template <class S, class F>
OVERDUB_HIDDEN inline constexpr array_calls array_calls_of{
    array_call<F, array<double>>::operation,
    F::name(),
    {observed_calls_on<S, F>(vector_types{}), observed_calls_on<S, F>(matrix_types{})}};

// Whether a property holds for calls of F on arrays of all cell types.
template <class F, class Property>
consteval bool for_all_arrays(Property const& holds) {
  return []<class... A>(types<A...>, Property const& of) {
    return (of(typename array_call<F, A>::type{}) && ...);
  }(concatenated_t<vector_types, matrix_types>{}, holds);
}

} // namespace overdub::detail
