// Stateful metaprogramming: records types for a key, in the order of instantiation. A friend function for each number from 0 on is defined
// when a type is recorded.
#pragma once

#include <overdub/core/requirements.hpp>

#include <type_traits>

namespace overdub::detail {

#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class Where, int N>
struct remembered {
  friend constexpr auto find_remembered(remembered);
};
#ifndef __clang__
#pragma GCC diagnostic pop
#endif
template <class Where, int N, class A>
struct remember {
  friend constexpr auto find_remembered(remembered<Where, N>) { return A{}; }
};

// Query makes each test a different instantiation, since compilers cache the results.
template <class Query, class Where, int N>
consteval bool is_remembered() {
  return requires(remembered<Where, N> r) { find_remembered(r); };
}

template <class Where, class A, int N = 0>
consteval bool remember_it() {
  if constexpr (!is_remembered<A, Where, N>())
    return sizeof(remember<Where, N, A>) > 0;
  else if constexpr (std::is_same_v<decltype(find_remembered(remembered<Where, N>{})), A>)
    return true;
  else
    return remember_it<Where, A, N + 1>();
}

} // namespace overdub::detail
