// What distinguishes the contexts in which a function is staged.
#pragma once

#include <overdub/call/dispatch.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace overdub::detail {

// A context object during staging. Objects of one class are one context if the members that their rules may read are equal, and if their
// hooks, which the program calls, have the same object.
struct context_identity {
  void const* object;    // null, if the members alone distinguish it
  std::string members;   // their bytes; empty, if rules read none, or the class cannot be copied
  std::uint32_t run = 0; // the runs that ended in contexts at this address
  auto operator<=>(context_identity const&) const = default;
};

// Appends a context, unless its class alone determines what it does. Objects that its members refer to are not compared. O(sizeof(C)).
template <class C>
void add_context(std::vector<context_identity>& all, C const& context) {
  constexpr bool reads_members = declares_rules<C> || declares_enter<C> || carries_metadata<C>;
  if constexpr (!std::is_empty_v<C> && (has_hooks<C> || reads_members)) {
    constexpr bool is_value = std::is_trivially_copyable_v<C>;
    void const* const object = &context;
    context_identity& added =
        all.emplace_back(context_identity{is_value && !has_hooks<C> ? nullptr : object, {}});
    if constexpr (reads_members && std::is_copy_constructible_v<C>) {
      added.members.assign(static_cast<char const*>(object), sizeof(C));
#if __has_builtin(__builtin_clear_padding)
      if constexpr (is_value) {
        auto const copy = std::make_unique<C>(context);
        __builtin_clear_padding(copy.get());
        added.members.assign(static_cast<char const*>(static_cast<void const*>(copy.get())), sizeof(C));
      }
#endif
    }
  }
}

} // namespace overdub::detail
