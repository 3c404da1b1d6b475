// on_threads: a parallel loop over indices.
#pragma once

#include <overdub/core/library.hpp>

#include <cstddef>

namespace overdub::inference {

// on_threads of call(f, i), for each i < count.
void call_on_threads(
    unsigned threads, std::size_t count, void (*call)(void const* f, std::size_t i), void const* f);

/// Calls f(i) once for each i < count, on this number of threads, including the present one; 0: as many as there are processors. After an
/// exception no further call begins. When all calls have ended, the exception of the smallest i is thrown: it is the same on any number of
/// threads, if the exception of f(i) depends on i alone.
template <class F>
void on_threads(unsigned threads, std::size_t count, F const& f) {
  call_on_threads(
      threads, count, [](void const* of, std::size_t i) { (*static_cast<F const*>(of))(i); }, &f);
}

} // namespace overdub::inference
