// memoize: a function called again with the same arguments is not run again.
#pragma once

#include <overdub/overdub.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <utility>

namespace overdub::contexts {

/// Remembers the results of all functions (not of primitives) by their arguments, bit by bit: -0 is not 0,
/// and NaN is itself. For functions without effects; innermost in a composition. Memory grows with each new
/// argument, until clear().
struct memoize : context {
  std::size_t entries = 0;
  std::size_t hits = 0;

  template <function F, class... X>
  requires(!in_context<X> && ...) recurse_t<memoize, F, X...> overdub(F f, X... x) {
    using R = recurse_t<memoize, F, X...>;
    std::string key;
    (append(key, x), ...);
    auto& results = table<F, R>();
    if (auto const found = results.find(key); found != results.end()) {
      ++hits;
      return found->second;
    }
    R result = recurse(*this, f, x...);
    entries += results.emplace(std::move(key), result).second;
    return result;
  }

  void clear() {
    tables_.clear();
    entries = hits = 0;
  }

private:
  template <class R>
  using results_of = std::unordered_map<std::string, R>;

  template <class F, class R>
  results_of<R>& table() {
    auto& slot = tables_[std::type_index(typeid(results_of<R>(F)))];
    if (!slot) slot = std::make_shared<results_of<R>>();
    return *static_cast<results_of<R>*>(slot.get());
  }

  // The bits of an argument's leaves, with the sizes of its arrays.
  template <class X>
  static void append(std::string& key, X const& x) {
    each_leaf(
        [&]<class L>(L const& leaf) {
          if constexpr (requires { leaf.span(); }) {
            append(key, leaf.size());
            for (auto const& element : leaf) append(key, element);
          } else if constexpr (!std::is_empty_v<L>) {
            static_assert(
                std::is_arithmetic_v<L>,
                "overdub: memoize compares numbers, arrays and trees of them; this function "
                "has an argument of another type");
            key.append(reinterpret_cast<char const*>(&leaf), sizeof leaf);
          }
        },
        x);
  }

  std::unordered_map<std::type_index, std::shared_ptr<void>> tables_;
};

} // namespace overdub::contexts
