// A compile-time list of types for each key (stateful metaprogramming). The i-th recorded type is the return type of
// `recorded(recorded_slot<Where, i>)`, a friend that the instantiation of `record_in_slot<Where, i, A>` defines. The order depends on the
// order of instantiation, which differs between translation units: use it for diagnostics, or where the order does not matter.
#pragma once

#include <overdub/core/requirements.hpp>

#include <type_traits>

namespace overdub::detail {

#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class Where, int N>
struct recorded_slot {
  friend constexpr auto recorded(recorded_slot);
};
#ifndef __clang__
#pragma GCC diagnostic pop
#endif
template <class Where, int N, class A>
struct record_in_slot {
  friend constexpr auto recorded(recorded_slot<Where, N>) { return A{}; }
};

// Query must be a type that was not used for (Where, N) before: otherwise, the compiler returns the earlier answer.
template <class Query, class Where, int N>
consteval bool is_recorded() {
  return requires(recorded_slot<Where, N> r) { recorded(r); };
}

// Appends A to the list of Where, unless it is in it. Always true, for use in a constraint. O(length of the list) instantiations.
template <class Where, class A, int N = 0>
consteval bool record_type() {
  if constexpr (!is_recorded<A, Where, N>())
    return sizeof(record_in_slot<Where, N, A>) > 0; // instantiates it
  else if constexpr (std::is_same_v<decltype(recorded(recorded_slot<Where, N>{})), A>)
    return true;
  else
    return record_type<Where, A, N + 1>();
}

} // namespace overdub::detail
