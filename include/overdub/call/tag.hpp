// Metadata of values: tag(x, context, metadata) makes a value that carries it, untag and metadata take it apart.
#pragma once

#include <overdub/call/lift.hpp>

#include <type_traits>
#include <utility>

namespace overdub {

/// A value in a context, with its metadata.
template <class T, is_context C, class M>
constexpr auto tag(T x, C& context, M metadata) {
  using S = detail::push_t<level<C, void>, detail::stack_in_t<T>>;
  S const stack{context, detail::stack_from<typename S::tail>(x)};
  return detail::wrap(stack, tagged<T, M, typename S::head>{std::move(x), std::move(metadata)});
}

/// The value that a value holds: one level down. A number is itself.
template <class X>
constexpr auto untag(X const& x) {
  if constexpr (detail::is_value<X>)
    return x.inner();
  else if constexpr (detail::is_tagged<X>)
    return x.inner;
  else
    return x;
}

/// The outermost context's metadata of a value; `none` when it keeps none.
template <class X>
constexpr auto metadata(X const& x) {
  if constexpr (detail::is_value<X>)
    return std::remove_cvref_t<decltype(x.metadata())>(x.metadata());
  else if constexpr (detail::is_tagged<X>)
    return x.metadata;
  else
    return none{};
}

/// Whether the outermost context of a value keeps metadata for it.
template <class X>
constexpr bool has_metadata(X const& x) {
  return !std::is_same_v<decltype(metadata(x)), none>;
}

} // namespace overdub
