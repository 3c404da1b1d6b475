// Strict runs, in checked builds: detection of calls that no context intercepts.
#pragma once

#include <overdub/call/stack.hpp>
#include <overdub/core/config.hpp>
#include <overdub/core/error.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace overdub::detail {

template <class S>
inline constexpr bool is_strict = false;
template <class... L>
inline constexpr bool is_strict<stack<L...>> = (std::is_base_of_v<strict, typename L::context> || ...);

// Whether this thread is running the body of a function in a strict run.
OVERDUB_HIDDEN inline bool& watched() {
  thread_local bool flag = false;
  return flag;
}

class watch {
public:
  OVERDUB_HIDDEN explicit watch(bool on) : before_(std::exchange(watched(), on)) {}
  OVERDUB_HIDDEN ~watch() { watched() = before_; }
  watch(watch const&) = delete;
  watch& operator=(watch const&) = delete;

private:
  bool before_;
};
struct no_watch {
  constexpr explicit no_watch(bool) {}
};
template <class S>
using watch_t = std::conditional_t<OVERDUB_CHECKED && is_strict<S>, watch, no_watch>;

template <class F>
OVERDUB_INLINE constexpr void check_not_escaped() {
#if OVERDUB_CHECKED
  if (!std::is_constant_evaluated() && watched()) throw_escaped(F::name());
#endif
}

} // namespace overdub::detail
