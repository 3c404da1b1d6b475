// mock: replaces the calls of a function, at all depths of calls, only in the calls that another function makes, or at some depths.
#pragma once

#include <overdub/call/arity.hpp>
#include <overdub/call/named_functions.hpp>
#include <overdub/overdub.hpp>

#include <concepts>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// The calls that a mock replaces: those of a depth from `First` to `Last`. The call of the function that is run has depth 0, and the calls
/// in its body have depth 1. With Below, the depth is counted from the calls of that function, and calls outside of them are not replaced.
template <class Below = void, int First = 0, int Last = std::numeric_limits<int>::max()>
struct mock_range {
  using below = Below;
  static constexpr int first = First, last = Last;

  /// The depth of calls in a body at this depth. All depths after the last relevant one
  /// are represented by one number, so that a recursive function has a finite number of types of contexts.
  static constexpr int next(int depth) {
    int const saturated = Last == std::numeric_limits<int>::max() ? First : Last + 1;
    return depth < saturated ? depth + 1 : saturated;
  }
};

/// Replaces Callee by a function object: see `mock`. Depth is the depth of calls in the body that runs; -1 outside of Range::below.
template <
    class Callee, class Replacement, class Range = mock_range<>, int Depth = 0, class Signatures = types<>>
struct mocked : context {
  static constexpr std::string_view name = "mock";
  using callees = types<Callee, typename Range::below>;
  using signatures = Signatures;
  // The depth of calls in the body of F.
  template <class F>
  static consteval int deeper() {
    return Depth >= 0 ? Range::next(Depth) : (named_by<F, typename Range::below> ? 1 : -1);
  }
  static constexpr bool replaces = Range::first <= Depth && Depth <= Range::last;
  [[no_unique_address]] Replacement replacement;

  constexpr mocked() requires std::default_initializable<Replacement>
  = default;
  constexpr explicit mocked(Replacement r) : replacement(std::move(r)) {}

  template <class... X>
  requires(replaces&& overdub::detail::may_take<Replacement, X...>()) auto overdub(Callee, X... x) const {
    return replacement(x...);
  }

  // An outer context with metadata has transformed the function, so that the replacement does not match its arguments: rejects it. Functions
  // of programs are tried with other numbers of arguments than the replacement has, too.
  template <rule_call Call, function F, class... X>
  requires(
      replaces&& named_by<F, Callee>&& F::depth > 0 && !std::same_as<F, Callee> &&
      overdub::detail::may_take_as_many<Replacement, X...>())
      recurse_t<Call, F, X...> overdub(Call call, F, X... x) {
    constexpr bool reached = std::same_as<F, Callee>;
    static_assert(
        reached,
        "overdub: the mock is nested in a context with metadata, which has changed the function that the "
        "mock replaces, and its arguments; make the mock the outermost context: compose(mock(...), "
        "others...)");
    return call.recurse(x...);
  }

  /// The context of the body of F, one call deeper.
  template <function F>
  requires(deeper<F>() != Depth) constexpr auto enter(F const&) const {
    return mocked<Callee, Replacement, Range, deeper<F>(), Signatures>(replacement);
  }

  /// Returns a mock that replaces only calls that F makes, at any depth; `at_depth`: only calls of depth First to Last.
  template <function F>
  constexpr auto below(F const&) const {
    return mocked<Callee, Replacement, mock_range<F, Range::first, Range::last>, -1, Signatures>(replacement);
  }
  template <int First, int Last = std::numeric_limits<int>::max()>
  constexpr auto at_depth() const {
    static_assert(
        0 <= First && First <= Last, "overdub: at_depth<First, Last> of a mock requires 0 <= First <= Last");
    return mocked<Callee, Replacement, mock_range<typename Range::below, First, Last>, Depth, Signatures>(
        replacement);
  }

  /// Returns a mock that is compiled for program functions of these signatures, instead of up to eight f64 and the replacement's
  /// parameter types: mock(norm, fake).called_as<double(overdub::array<double>)>().
  template <class... Signature>
  constexpr auto called_as() const {
    return mocked<Callee, Replacement, Range, Depth, types<Signature...>>(replacement);
  }
};

/// A context that replaces calls of f, a function, a native function or an operation, by calls of `replacement`, a function object with the
/// parameters and the result of f. Calls that the replacement makes are not replaced. A mock whose replacement has no captures can be
/// compiled.
///   run(mock(fetch, [](auto key) { return 2.0 * key; }), program, x)
///   run(mock(fetch, fake).below(report), program, x)
///   run(mock(fetch, fake).at_depth<1, 2>(), program, x)
template <callee F, class Replacement>
constexpr auto mock(F const&, Replacement replacement) {
  return mocked<F, Replacement>(std::move(replacement));
}

} // namespace overdub::contexts
