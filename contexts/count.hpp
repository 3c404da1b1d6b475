// count: how many calls a program makes, of functions and of primitives; or how many of chosen callees.
#pragma once

#include <overdub/overdub.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// Counts calls. A call of a function in outer contexts ("norm.forward") counts as any other.
struct count : context {
  long functions = 0;
  long primitives = 0;

  long calls() const { return functions + primitives; }

  void before(function auto, auto const&...) { ++functions; }
  void before(primitive auto, auto const&...) { ++primitives; }

  count fork() { return {}; }
  void join(count&& other) {
    functions += other.functions;
    primitives += other.primitives;
  }
};

/// Counts the calls of some callees only: count_of<decltype(norm), overdub::sin_t>. Outer contexts do not
/// hide them.
template <class... Callees>
struct count_of : context {
  std::array<long, sizeof...(Callees)> calls{};

  /// The calls of a callee so far.
  template <callee F>
  long operator()(F const&) const {
    return calls[position<F>()];
  }

  template <callee F>
  requires(std::same_as<origin_t<F>, std::remove_cv_t<Callees>> || ...) void before(F, auto const&...) {
    ++calls[position<F>()];
  }

  count_of fork() { return {}; }
  void join(count_of&& other) {
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i] += other.calls[i];
  }

private:
  template <class F>
  static consteval std::size_t position() {
    static_assert(
        (std::same_as<origin_t<F>, std::remove_cv_t<Callees>> || ...),
        "overdub: this callee is not among those of count_of<...>");
    std::size_t index = 0;
    (void)((std::same_as<origin_t<F>, std::remove_cv_t<Callees>> || (++index, false)) || ...);
    return index;
  }
};

} // namespace overdub::contexts
