// An inline cache (Deutsch and Schiffman, 1984): one for each thread, function and types, and not for each call site.
#pragma once

#include <overdub/compile/cache.hpp>
#include <overdub/compile/fingerprint.hpp>
#include <overdub/compile/global.hpp>

#include <array>
#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {

// The artifact of the last call. It is used again while the fingerprints are equal.
template <class... C>
class inline_cache {
public:
  /// Keeps the artifact alive during a call. A recursive call with other fingerprints may replace it in the cache.
  class use {
  public:
    explicit use(inline_cache& of) : of_(of), made(*of.made_) { ++of_.uses_; }
    use(use const&) = delete;
    use& operator=(use const&) = delete;
    ~use() {
      if (--of_.uses_ == 0 && !of_.replaced_.empty()) of_.replaced_.clear();
    }

  private:
    inline_cache& of_;

  public:
    artifact const& made;
  };

  bool is_for(C const&... c) {
    if (made_ == nullptr || is_checked_) return false;
    if constexpr ((is_plain<C> && ...))
      return plain == std::tuple<plain_t<C>...>(plain_of(c)...);
    else {
      scratch.clear();
      write_fingerprints(scratch, c...);
      return scratch == bytes;
    }
  }
  void remember(
      std::shared_ptr<artifact const> answer, std::string const& fingerprints, bool is_checked,
      C const&... c) {
    if (uses_ > 0 && made_ != nullptr) replaced_.push_back(made_);
    made_ = nullptr; // the cache stays empty if storing the fingerprints throws
    if constexpr ((is_plain<C> && ...))
      plain = std::tuple<plain_t<C>...>(plain_of(c)...);
    else
      bytes = fingerprints;
    is_checked_ = is_checked;
    made_ = std::move(answer);
  }

private:
  // Whether a fingerprint is none, an integer or an enumeration: it is compared by value, without serialisation.
  template <class X>
  static constexpr bool is_plain =
      !has_fingerprint<X> || std::is_integral_v<fingerprint_t<X>> || std::is_enum_v<fingerprint_t<X>>;
  template <class X>
  using plain_t = std::conditional_t<has_fingerprint<X>, fingerprint_t<X>, char>;
  template <class X>
  static plain_t<X> plain_of(X const& x) {
    if constexpr (has_fingerprint<X>)
      return x.fingerprint();
    else
      return {};
  }
  struct nothing {};
  std::conditional_t<(is_plain<C> && ...), std::tuple<plain_t<C>...>, nothing> plain{};
  std::string bytes, scratch;
  std::shared_ptr<artifact const> made_;
  std::vector<std::shared_ptr<artifact const>> replaced_; // replaced artifacts that a running call uses
  int uses_ = 0;
  bool is_checked_ = false; // with `check_fingerprints`, the cache always misses: each call is checked
};

} // namespace detail

// This thread's inline cache for one function, its argument types and its context types.
template <class Compilation, class... C>
OVERDUB_HIDDEN detail::inline_cache<C...>& inline_cache_of() {
  thread_local detail::inline_cache<C...> last;
  return last;
}

namespace detail {

// Runs f, compiled for the current fingerprints of the contexts. While they are unchanged, a call does not
// access the cache of compiled functions, outside of scoped_globals and without `check_fingerprints`.
template <class Compilation, class F, class... C, class... X>
auto run_by_fingerprints(F const& f, std::tuple<C&...> const& contexts, X const&... x) {
  return overdub::detail::apply_to(
      [&](C&... c) {
        auto& last = inline_cache_of<Compilation, C...>();
        if (!last.is_for(c...)) {
          std::string fingerprints;
          write_fingerprints(fingerprints, c...);
          compile_options const o = Compilation::options({});
          last.remember(Compilation::get(f, o, fingerprints, c...), fingerprints, o.check_fingerprints, c...);
        }
        std::array<void*, sizeof...(C)> const objects{&c...};
        typename inline_cache<C...>::use const used(last); // a hook may call f again
        return global_call<typename Compilation::result, X...>::run(used.made, objects, x...);
      },
      contexts);
}

} // namespace detail
} // namespace overdub
