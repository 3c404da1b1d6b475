// An inner value with a context's metadata, outside of any context, as rules receive and return it. It has no operators, so that no call is
// dispatched by accident.
#pragma once

#include <overdub/core/requirements.hpp>

#include <utility>

namespace overdub {

/// Level is the level from which it was stripped, to which `recurse` returns; void for one that `tag` created.
template <class T, class M, class Level = void>
struct tagged {
  using level_type = Level;
  T inner;
  M metadata;
};

/// Creates an inner value with metadata, for the result of a rule or an argument of a run: overdub(forward{}, f, tag(2.0, 1.0)).
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
