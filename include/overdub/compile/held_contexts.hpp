// The contexts that a function object refers to or owns.
#pragma once

#include <overdub/call/compose.hpp>
#include <overdub/core/shared.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::detail {

// The contexts of a composition as a tuple of references, outermost first.
template <class Composition>
auto context_tuple(Composition& all) {
  return hana::unpack(all.contexts, [](auto&... held) {
    return std::tuple<std::remove_reference_t<decltype(get_held(held))>&...>(get_held(held)...);
  });
}

// Shared by the copies of the function object.
template <class Composition>
class held_contexts {
public:
  explicit held_contexts(Composition all) : all_(std::move(all)) {}
  /// References, outermost first.
  auto all() const { return context_tuple(*all_); }

private:
  shared<Composition> all_;
};

// Contexts without state need no storage: the function object is empty.
template <class... Held>
requires(std::is_empty_v<held_context_t<Held>>&&...) class held_contexts<composition<Held...>> {
public:
  constexpr held_contexts() = default;
  constexpr explicit held_contexts(composition<Held...> const&) {}
  auto all() const { return std::tuple<held_context_t<Held>&...>(stateless<held_context_t<Held>>...); }
};

} // namespace overdub::detail
