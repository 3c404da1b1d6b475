// Tests whether a function object accepts some arguments, without instantiating its body: a test by `requires` would deduce the result of a
// lambda from its body, which need not compile for these arguments.
#pragma once

#include <overdub/call/rule.hpp>

#include <type_traits>

namespace overdub::detail {

// Adds an overload that is a better match for a non-const object and a worse one for the arguments. A call is ambiguous, and so ill-formed,
// if the object's own operator accepts the arguments.
template <class F>
struct arity_probe : F {
  using F::operator();
  nothing operator()(...);
};

template <class F, class... A>
consteval bool may_take() {
  if constexpr (!std::is_class_v<F> || std::is_final_v<F>)
    return true;
  else if constexpr (sizeof...(A) == 0)
    return requires(F const& f) { f(); };
  else
    return !requires(arity_probe<F> & f, A... a) { f(a...); };
}
// Whether it accepts as many arguments, of some types.
template <class F, class... A>
consteval bool may_take_as_many() {
  return may_take<F, std::conditional_t<true, anything, A>...>();
}

} // namespace overdub::detail
