// What overdub throws. One small hierarchy; every message says what, where and what to do.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace overdub {

/// The base of every exception that overdub throws itself.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An array was indexed outside of its bounds.
struct index_error : error {
  using error::error;
};

/// Arrays that must have one size have different ones, or a size makes no sense.
struct size_error : error {
  using error::error;
};

/// An integer was divided by zero.
struct division_by_zero : error {
  using error::error;
};

/// Checked builds: values of two instances of one context type met in one call.
struct context_mismatch : error {
  using error::error;
};

/// Checked builds: a `fn` was called inside a strict run, but outside of its contexts.
struct escaped_call : error {
  using error::error;
};

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_index(std::string_view op, long long index, long long size) {
  throw index_error("overdub: " + std::string(op) + ": index " + std::to_string(index) +
                    " is out of range for an array of size " + std::to_string(size));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_sizes(std::string_view op, long long first, long long other) {
  throw size_error("overdub: " + std::string(op) + ": arrays of different sizes, " + std::to_string(first) + " and " +
                   std::to_string(other));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_negative(std::string_view op, long long size) {
  throw size_error("overdub: " + std::string(op) + ": a size of " + std::to_string(size) + " is negative");
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_empty(std::string_view op) {
  throw size_error("overdub: " + std::string(op) + ": the array is empty and no initial value is given; write " +
                   std::string(op) + "(f, initial, array)");
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_division() {
  throw division_by_zero("overdub: an integer was divided by zero; test the divisor first, or divide in floating point");
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_mismatch(std::string_view callee, std::string_view context) {
  throw context_mismatch("overdub: " + std::string(callee) + " was called with values of two different instances of the " +
                         "context " + std::string(context) + "; a value escaped from one run into another");
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_escaped(std::string_view callee) {
  throw escaped_call("overdub: " + std::string(callee) + " was called inside a strict run with plain arguments, so no " +
                     "context saw it; call it through the scope: cx(" + std::string(callee) + ", ...)");
}

}  // namespace detail
}  // namespace overdub
