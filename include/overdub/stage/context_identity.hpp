// What distinguishes the contexts in which a function is staged.
#pragma once

#include <overdub/call/dispatch.hpp>

#include <compare>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace overdub::detail {

// A context object during staging. Objects of one class are one context if their rules may read the same members, and if their hooks, which
// the program calls, have the same object.
struct context_identity {
  void const* object;  // null, if the members alone distinguish it
  std::string members; // the bytes of the members; empty, if rules read none
  auto operator<=>(context_identity const&) const = default;
};

// Appends a context, unless its class alone determines what it does. Objects that its members refer to are not compared. O(sizeof(C)).
template <class C>
void add_context(std::vector<context_identity>& all, C const& context) {
  constexpr bool reads_members = declares_rules<C> || declares_enter<C> || carries_metadata<C>;
  if constexpr (!std::is_empty_v<C> && (has_hooks<C> || reads_members)) {
    context_identity& added = all.emplace_back(context_identity{&context, {}});
    if constexpr (
        reads_members &&
        std::is_copy_constructible_v<C>) { // others are shared: a lock, a counter of all threads
      added.members.resize(sizeof(C));
      std::memcpy(added.members.data(), static_cast<void const*>(&context), sizeof(C));
      if constexpr (std::is_trivially_copyable_v<C>) {
        if constexpr (!has_hooks<C>) added.object = nullptr;
#if __has_builtin(__builtin_clear_padding)
        alignas(C) std::byte copy[sizeof(C)];
        C* const cleared = static_cast<C*>(std::memcpy(copy, static_cast<void const*>(&context), sizeof(C)));
        __builtin_clear_padding(cleared);
        std::memcpy(added.members.data(), copy, sizeof(C));
#endif
      }
    }
  }
}

} // namespace overdub::detail
