// Whether a function object may be called with some arguments, without a look at its body: the result of a lambda's call is deduced
// from the body, which need not compile for other arguments than those that it is called with.
#pragma once

#include <overdub/call/rule.hpp>

#include <type_traits>

namespace overdub::detail {

// A call is ambiguous between the object's own operator and this one, which takes a changeable object and, less well, any arguments.
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

} // namespace overdub::detail
