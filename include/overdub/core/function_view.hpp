// A reference to a callable object, for parameters, like std::function_ref of C++26: two pointers, and one small function for each type of
// object, where std::function would instantiate ten.
#pragma once

#include <overdub/core/requirements.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace overdub::detail {

template <class>
class function_view;

/// Refers to an object, which must outlive it. Copying is O(1).
template <class R, class... A>
class function_view<R(A...)> {
public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, function_view>) function_view(F const& f)
      : object_(std::addressof(f)), call_([](void const* object, A... a) -> R {
          return (*static_cast<F const*>(object))(std::forward<A>(a)...);
        }) {}

  R operator()(A... a) const { return call_(object_, std::forward<A>(a)...); }

private:
  void const* object_;
  R (*call_)(void const*, A...);
};

} // namespace overdub::detail
