// Native functions that a program itself has (ir::host_binding), such as its leaves, as host functions.
#pragma once

#include <overdub/execute/host.hpp>
#include <overdub/execute/values.hpp>
#include <overdub/implementation/execute/machine.hpp>
#include <overdub/ir/program.hpp>

#include <vector>

namespace overdub::execute {

/// The highest rank of an argument or a result of a native function.
inline constexpr std::uint32_t highest_native_rank = 2;

/// Calls f<T>() with the C++ type of a value.
template <class F>
auto with_native_type(ir::type t, F const& f) {
  return with_type(t.element, [&]<class T>(T) {
    if (t.rank == 0) return f.template operator()<T>();
    if (t.rank == 1) return f.template operator()<array<T>>();
    return f.template operator()<array<array<T>>>();
  });
}

/// The receiver of a bound function in this call.
inline void* context_of(machine const& m, ir::host_binding const& b) {
  if (m.contexts == nullptr)
    throw host_error(message(
        "overdub: a program that was compiled for contexts is called without them; call what compile gave"));
  return m.contexts[b.context];
}

/// A bound function as a host function of these types, of rank 2 at most.
host_function
bound_function(ir::host_binding const& b, std::vector<ir::type> parameters, std::vector<ir::type> results);

} // namespace overdub::execute
