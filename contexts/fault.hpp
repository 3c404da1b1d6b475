// fault: fault injection. The context makes chosen calls throw, so that tests reach the error paths of a program.
#pragma once

#include <overdub/call/named_functions.hpp>
#include <overdub/overdub.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// The exception that an injected fault throws by default.
struct OVERDUB_EXPORTED injected_fault : error {
  using error::error;
};

/// Predicates that select the calls that fail, by their number, which starts at 1: nth_call(3) selects the third call, every_call(3) the
/// third, the sixth, and so on. random_calls(0.1, seed) selects a tenth of the calls at random; one seed selects the same calls in each
/// run.
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

/// The callees whose calls may fail: Callees, or all native functions that are not pure if Callees is empty.
template <class F, class... Callees>
concept fallible = (named_by<F, Callees> || ...) || (sizeof...(Callees) == 0 && native_leaf<F> &&
                                                     requires { requires F::effects != effect::pure; });

/// Makes calls of Callees throw: functions, native functions or operations. If Callees is empty, calls of native functions that are not
/// pure throw. The exception replaces the call. One count numbers the calls of all callees and all runs in their order. To keep this order,
/// parallel_map runs sequentially in this context.
template <class... Callees>
struct fault : context {
  using callees = types<Callees...>;
  std::function<bool(long call)> when;
  std::function<void(std::string_view callee)> raise; // throws the exception; if it returns, the call runs
  long calls = 0;                                     // the number of calls of fallible callees so far
  long faults = 0;                                    // the number of those that `when` selected

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
