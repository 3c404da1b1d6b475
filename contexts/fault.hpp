// fault: calls that fail, where a test wants them to.
#pragma once

#include <overdub/call/named_functions.hpp>
#include <overdub/overdub.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// What a call throws that is made to fail, unless the context throws something else.
struct OVERDUB_EXPORTED injected_fault : error {
  using error::error;
};

/// Which calls fail, by their number from 1 on: nth_call(3) that one alone, every_call(3) the third, sixth, ...,
/// random_calls(0.1, seed) one in ten, the same ones in each run.
inline auto nth_call(long n) {
  return [n](long call) { return call == n; };
}
inline auto every_call(long n) {
  return [n](long call) { return n > 0 && call % n == 0; };
}
inline auto random_calls(double probability, std::uint64_t seed = 1) {
  return [probability, seed](long call) { // splitmix64 of the call's number
    std::uint64_t x = seed + 0x9e3779b97f4a7c15 * static_cast<std::uint64_t>(call);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53 < probability;
  };
}

/// The callees whose calls may be made to fail: Callees; without any, native functions that are not pure.
template <class F, class... Callees>
concept fallible = (named_by<F, Callees> || ...) || (sizeof...(Callees) == 0 && native_leaf<F> &&
                                                     requires { requires F::effects != effect::pure; });

/// Makes calls of Callees fail: of functions, native functions or operations; without any, of each native function that is not
/// pure. The call throws instead of being made. Calls are numbered in the order in which they are made, all callees together,
/// over all runs; and so it does not follow parallel_map, which runs in order then.
template <class... Callees>
struct fault : context {
  using callees = types<Callees...>;
  std::function<bool(long call)> when;
  std::function<void(std::string_view callee)> raise; // throws; else the call is made
  long calls = 0;                                     // that could have failed, so far
  long faults = 0;                                    // of those, that were to fail

  explicit fault(std::function<bool(long)> which) : when(std::move(which)) {}
  fault(std::function<bool(long)> which, std::function<void(std::string_view)> how)
      : when(std::move(which)), raise(std::move(how)) {}

  template <class F>
  requires fallible<F, Callees...>
  void before(F const& f, auto const&...) {
    ++calls;
    if (!when(calls)) return;
    ++faults;
    if (raise) return raise(f.name());
    throw injected_fault(message(
        "overdub: call %ld of those that may fail was made to fail: %.*s", calls,
        static_cast<int>(f.name().size()), f.name().data()));
  }
};

} // namespace overdub::contexts
