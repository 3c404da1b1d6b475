// leaf<"name">(f, effects): a native function as a primitive, whose calls contexts intercept, but not the calls inside it.
#pragma once

#include <overdub/call/dispatch.hpp>
#include <overdub/call/name.hpp>
#include <overdub/core/effect.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {

namespace effects {
template <effect E>
struct constant {
  static constexpr effect value = E;
};
inline constexpr constant<effect::pure> pure{};
inline constexpr constant<effect::may_fail> may_fail{};
inline constexpr constant<effect::reads_context> reads_context{};
inline constexpr constant<effect::addressed> addressed{};
inline constexpr constant<effect::accumulates> accumulates{};
inline constexpr constant<effect::ordered> ordered{};
} // namespace effects

template <fixed_string Name, class Body, effect Effect>
struct leaf_t {
  using overdub_callee = kind::leaf;
  static constexpr int depth = 0;
  static constexpr effect effects = Effect;
  static constexpr std::string_view name() { return Name.view(); }
  static_assert(
      !detail::names_version(Name.view()), "overdub: the name of a function cannot end in # and a number: in "
                                           "programs, norm#2 is the second version of norm");

  [[no_unique_address]] Body body;

  template <class... A>
  OVERDUB_INLINE constexpr auto operator()(A&&... a) const {
    return detail::dispatch(*this, std::forward<A>(a)...);
  }
  template <class... A>
  OVERDUB_INLINE constexpr auto compute(A&&... a) const {
    constexpr bool fits = std::is_invocable_v<Body const&, A...>;
    static_assert(
        fits, "overdub: a leaf's native function cannot be called with these arguments; it gets plain "
              "numbers and arrays");
    if constexpr (!fits)
      return detail::refused{};
    else if constexpr (std::is_void_v<std::invoke_result_t<Body const&, A...>>) {
      body(std::forward<A>(a)...);
      return none{};
    } else
      return body(std::forward<A>(a)...);
  }
};

/// Makes a native function a primitive. Without a rule it is called on plain numbers, and its result is a constant for contexts with
/// metadata. The default effect is `ordered`, which allows all side effects.
template <fixed_string Name, class Body, effect Effect = effect::ordered>
constexpr leaf_t<Name, Body, Effect> leaf(Body body, effects::constant<Effect> = {}) {
  return {std::move(body)};
}

} // namespace overdub
