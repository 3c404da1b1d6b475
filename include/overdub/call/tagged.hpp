// An inner value with a context's metadata, outside of any context: what rules get and give. It has no
// operators, so that nothing is dispatched by accident.
#pragma once

#include <overdub/core/requirements.hpp>

#include <utility>

namespace overdub {

/// Level is the level that it was taken from, so that `recurse` finds its way back; void for one made by
/// `tag`.
template <class T, class M, class Level = void>
struct tagged {
  using level_type = Level;
  T inner;
  M metadata;
};

/// An inner value with metadata: the result of a rule, or an argument of a run: overdub(forward{}, f,
/// tag(2.0, 1.0)).
template <class T, class M>
constexpr tagged<T, M> tag(T inner, M metadata) {
  return {std::move(inner), std::move(metadata)};
}

namespace detail {
template <class X>
inline constexpr bool is_tagged = false;
template <class T, class M, class L>
inline constexpr bool is_tagged<tagged<T, M, L>> = true;
} // namespace detail

} // namespace overdub
