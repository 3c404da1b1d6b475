// Copies values between C++ and frames: arguments and results of programs and of native functions.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/execute/frame.hpp>
#include <overdub/execute/host.hpp>

#include <cstring>
#include <type_traits>
#include <vector>

namespace overdub::execute {

// Copies the elements at `from` into nested C++ arrays, and moves `from` past them.
template <class T>
T copy_part(i64 const* extents, std::byte const*& from) {
  using element = typename T::value_type;
  auto const n = extents[0];
  if constexpr (detail::type_of_cpp<element>.rank == 0) {
    auto const* const first = reinterpret_cast<element const*>(from);
    from += static_cast<std::size_t>(n) * sizeof(element);
    return T::copy_of({first, static_cast<std::size_t>(n)});
  } else {
    detail::array_builder<element> out(n);
    for (i64 i = 0; i < n; ++i) out.put(i, copy_part<element>(extents + 1, from));
    return out.finish(n);
  }
}

/// Returns a copy of the value at `at`.
template <class T>
T owned_copy(std::byte const* frame, offset at) {
  constexpr auto rank = detail::type_of_cpp<T>.rank;
  if constexpr (rank == 0)
    return get<T>(frame, at);
  else {
    i64 extents[rank];
    std::memcpy(extents, frame + at + 2 * word_size, sizeof extents);
    auto const* from = get<std::byte const*>(frame, at);
    return copy_part<T>(extents, from);
  }
}

/// Returns an argument of a native function. An array of rank 1 borrows the frame's elements; one of a higher rank is copied.
template <class T>
T argument(machine&, std::byte const* frame, offset at) {
  if constexpr (detail::type_of_cpp<T>.rank == 0)
    return get<T>(frame, at);
  else if constexpr (detail::type_of_cpp<T>.rank == 1) {
    using element = typename T::value_type;
    return T::borrow(
        {reinterpret_cast<element const*>(get<std::byte const*>(frame, at)),
         static_cast<std::size_t>(extent(frame, at, 0))});
  } else
    return owned_copy<T>(frame, at);
}
template <class T>
void measure(array<T> const& a, i64* extents, bool first) {
  if (!first && extents[0] != a.size()) detail::throw_ragged(extents[0], a.size());
  extents[0] = a.size();
  if constexpr (detail::type_of_cpp<T>.rank > 0)
    for (i64 i = 0; i < a.size(); ++i) measure(a.data()[i], extents + 1, first && i == 0);
}
template <class T>
void flatten(array<T> const& a, std::byte*& to) {
  if constexpr (detail::type_of_cpp<T>.rank > 0)
    for (T const& x : a) flatten(x, to);
  else if (!a.empty()) {
    std::memcpy(to, a.data(), static_cast<std::size_t>(a.size()) * sizeof(T));
    to += static_cast<std::size_t>(a.size()) * sizeof(T);
  }
}

/// Creates an array at `at` in the frame. Returns its uninitialised elements.
std::byte* make_host_array(
    machine& m, std::byte* frame, offset at, i64 const* extents, offset rank, std::size_t element_bytes);

/// Writes a value to a frame; arrays are copied into a buffer of the machine.
template <class T>
void deliver(machine& m, std::byte* frame, offset at, T const& x) {
  constexpr auto rank = detail::type_of_cpp<T>.rank;
  if constexpr (rank == 0)
    put(frame, at, x);
  else {
    i64 extents[rank]{};
    measure(x, extents, true);
    auto* to = make_host_array(m, frame, at, extents, rank, sizeof(typename detail::number_in<T>::type));
    flatten(x, to);
  }
}
/// Writes an array of rank 1 to a frame without copying it. The caller's memory must outlive its use.
template <class T>
void lend(std::byte* frame, offset at, T const* elements, std::size_t size) {
  put<void const*>(frame, at, elements);
  put<void const*>(frame, at + word_size, nullptr); // no buffer owns the elements
  put<i64>(frame, at + 2 * word_size, static_cast<i64>(size));
}

/// Calls f(T{}) for the C++ type T of a number or a bool.
template <class F>
auto with_type(ir::scalar s, F f) {
  switch (s) {
  case ir::scalar::boolean:
    return f(bool{});
  case ir::scalar::i64:
    return f(i64{});
  case ir::scalar::f32:
    return f(float{});
  default:
    return f(double{});
  }
}

/// Writes a datum to a frame without copying its elements. The datum must outlive their use.
void lend(std::byte* frame, offset at, datum const& d);
/// Writes a datum to a frame; copies its elements.
void deliver_datum(machine& m, std::byte* frame, offset at, datum const& d);
/// Returns a copy of the value of type t at `at`, as a datum.
datum datum_at(std::byte const* frame, offset at, ir::type t);

} // namespace overdub::execute
