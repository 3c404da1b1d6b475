// Replaces the symbols of values, on all levels of contexts.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/core/quantifiers.hpp>
#include <overdub/stage/staging.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// Replaces each symbol of a tree of values, on all levels, by f(symbol, type).
template <class F>
struct symbol_transform {
  F const& f;
  template <class X>
  constexpr auto operator()(X const& x) const {
    if constexpr (is_value<X>) {
      using T = typename X::inner_type;
      if constexpr (std::is_same_v<typename X::context_type, staging>) {
        if (x.context().is_null()) return x; // a constant has no symbol
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
    else {
      // Other data would keep their value from staging.
      static_assert(
          std::is_empty_v<X>,
          "overdub: a context keeps metadata of a type that a program does not compute, and cannot be "
          "staged; let them follow the value: template <class T> using metadata = T");
      return x;
    }
  }
};
template <class F, class X>
constexpr auto transform_symbols(X const& x, F const& f) {
  return symbol_transform<F>{f}(x);
}

// The symbols of trees of values, on all levels, and their types.
struct symbol_list {
  std::vector<ir::value_id> ids;
  std::vector<ir::type> types;
};
// A named type, so that trees of one type are traversed by one instantiation.
struct note_symbol {
  symbol_list& to;
  template <class T>
  symbol_of_value operator()(symbol_of_value s, std::type_identity<T>) const {
    to.ids.push_back(s.id);
    to.types.push_back(ir_type_of<T>);
    return s;
  }
};
struct next_symbol {
  ir::id_range<ir::value_id> const& values;
  std::size_t& next;
  template <class T>
  symbol_of_value operator()(symbol_of_value, std::type_identity<T>) const {
    return symbol_of_value{values[next++]};
  }
};
template <class X>
void note_symbols(symbol_list& to, X const& x) {
  (void)transform_symbols(x, note_symbol{to});
}
// A tree of the structure of x, with the symbols from `next` on.
template <class X>
X with_symbols(X const& x, ir::id_range<ir::value_id> const& values, std::size_t& next) {
  return transform_symbols(x, next_symbol{values, next});
}

// The symbol of a value in contexts without metadata.
template <class X>
constexpr ir::value_id symbol_below(X const& x) {
  if constexpr (std::is_same_v<typename X::context_type, staging>)
    return x.metadata().id;
  else
    return symbol_below(x.inner());
}
// The value of type T with this symbol in these contexts.
template <class T, class S>
constexpr wrap_t<S, T> symbol_in(S const& stack, ir::value_id v) {
  if constexpr (S::depth == 1)
    return wrap(stack, tag(T{}, symbol_of_value{v}));
  else
    return wrap(stack, symbol_in<T>(stack.rest(), v));
}

// The callee of a function that only forwards its arguments to another function; nothing, for other functions.
ir::function_id only_callee(ir::program const& p, ir::function_id f);

} // namespace overdub::detail
