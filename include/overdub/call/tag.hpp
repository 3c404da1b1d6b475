// Metadata of values: tag(x, context, metadata) creates a value, and untag and metadata return its parts.
#pragma once

#include <overdub/call/lift.hpp>

#include <type_traits>
#include <utility>

namespace overdub {

/// Wraps x into a value of `context` with this metadata. x is a plain value, or a value of other contexts, which are the inner ones.
template <class T, is_context C, class M>
constexpr auto tag(T x, C& context, M metadata) {
  using S = detail::push_t<level<C, void>, detail::stack_in_t<T>>;
  S const stack{context, detail::stack_from<typename S::tail>(x)};
  return detail::wrap(stack, tagged<T, M, typename S::head>{std::move(x), std::move(metadata)});
}

/// The value without its outermost context and the metadata of that, and the value of a `tagged`. Other objects are returned unchanged.
template <class X>
constexpr auto untag(X const& x) {
  if constexpr (detail::is_value<X>)
    return x.inner();
  else if constexpr (detail::is_tagged<X>)
    return x.inner;
  else
    return x;
}

/// The metadata of a value in its outermost context, or of a `tagged`; `none` if the context has no metadata, and for other objects.
template <class X>
constexpr auto metadata(X const& x) {
  if constexpr (detail::is_value<X>) {
    using C = typename X::context_type;
    if constexpr (detail::makes_constants<C, typename X::inner_type>)
      if (x.context().is_null()) detail::throw_constants("metadata", detail::context_name_v<C>);
    return std::remove_cvref_t<decltype(x.metadata())>(x.metadata());
  } else if constexpr (detail::is_tagged<X>)
    return x.metadata;
  else
    return none{};
}

/// Whether a value has metadata in its outermost context.
template <class X>
constexpr bool has_metadata(X const& x) {
  return !std::is_same_v<decltype(metadata(x)), none>;
}

} // namespace overdub
