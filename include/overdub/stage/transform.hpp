// Values on symbols with other symbols in the place of theirs, on all levels of contexts.
#pragma once

#include <overdub/stage/staging.hpp>

#include <type_traits>
#include <utility>

namespace overdub::detail {

// A tree of values like x, with f(symbol, type) in the place of each symbol, on all levels.
template <class F>
struct symbol_transform {
  F const& f;
  template <class X>
  constexpr auto operator()(X const& x) const {
    if constexpr (is_value<X>) {
      using T = typename X::inner_type;
      if constexpr (std::is_same_v<typename X::context_type, staging>) {
        auto const of_member = [&]<class Symbol>(Symbol const& s) {
          return symbol_for<typename symbol_type<Symbol>::type>(
              f(s.metadata, std::type_identity<typename symbol_type<Symbol>::type>{}).id);
        };
        return X(x.inner(), map_members<T, void>(x.metadata(), of_member), x.context());
      } else {
        auto inner = (*this)(x.inner()); // before the metadata
        return X(std::move(inner), (*this)(x.metadata()), x.context());
      }
    } else if constexpr (tree<X>)
      return tree_traits<X>::map(*this, x);
    else
      return x;
  }
};
template <class F, class X>
constexpr auto transform_symbols(X const& x, F const& f) {
  return symbol_transform<F>{f}(x);
}

// Whether metadata in values of type X are symbols on every level, or nothing at all: else they would be what they were when
// the program was staged.
template <class X>
consteval bool has_symbols_alone() {
  if constexpr (is_value<X>) {
    if constexpr (std::is_same_v<typename X::context_type, staging>)
      return true;
    else
      return has_symbols_alone<std::remove_cvref_t<decltype(std::declval<X const&>().inner())>>() &&
             has_symbols_alone<std::remove_cvref_t<decltype(std::declval<X const&>().metadata())>>();
  } else
    return tree<X> || std::is_empty_v<X>;
}
template <class X>
consteval bool keeps_symbols() {
  constexpr bool keeps = has_symbols_alone<X>();
  static_assert(
      keeps, "overdub: a context keeps metadata of a type that a program does not compute, and cannot be "
             "staged; let them "
             "follow the value: template <class T> using metadata = T");
  return keeps;
}

} // namespace overdub::detail
