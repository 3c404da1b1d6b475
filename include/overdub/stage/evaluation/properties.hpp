// What the contexts of a stack ask of the evaluation of a program: which values they distinguish, and what may be copied unchanged.
#pragma once

#include <overdub/call/context.hpp>
#include <overdub/call/stack.hpp>

#include <string>
#include <type_traits>

namespace overdub::detail {

// Contexts of forward mode with one tangent, which is their metadata.
template <class C>
concept keeps_tangents = requires {
  requires C::directions == 1;
};
// Whether the outermost context with metadata keeps tangents.
template <class S>
consteval bool finds_tangents() {
  if constexpr (S::empty)
    return false;
  else if constexpr (keeps_tangents<typename S::context>)
    return true;
  else if constexpr (carries_metadata<typename S::context>)
    return false;
  else
    return finds_tangents<typename S::tail>();
}
template <class S>
inline constexpr bool differentiates = finds_tangents<S>();

// Whether a context of the stack, except `staging`, has metadata.
template <class S>
consteval bool keeps_metadata() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else
    return carries_metadata<typename S::context> || keeps_metadata<typename S::tail>();
}

// Whether a context of the stack may distinguish constants from other values: by metadata, or by the types of its rules' arguments.
template <class S>
consteval bool finds_constants() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return finds_constants<typename S::tail>();
  else
    return carries_metadata<typename S::context> || declares_rules<typename S::context> ||
           finds_constants<typename S::tail>();
}
// Whether literals must be passed as constants, since rules of the contexts may distinguish them.
template <class S>
inline constexpr bool distinguishes_literals = finds_constants<S>();

// Whether a program is rewritten in contexts without metadata: then each value is one symbol, and operations that are not
// intercepted are copied unchanged.
template <class S>
inline constexpr bool keeps_form = is_symbolic<S> && !keeps_metadata<S>();

// The names of the outer contexts of S, down to T.
template <class S, class T>
std::string names_above() {
  if constexpr (std::is_same_v<S, T>)
    return {};
  else
    return std::string(1, '.').append(context_name_v<typename S::context>) +
           names_above<typename S::tail, T>();
}

} // namespace overdub::detail
