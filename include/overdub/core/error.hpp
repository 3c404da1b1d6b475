// The exceptions of overdub. Each message has the error, its location and a fix.
#pragma once

#include <overdub/core/c_locale.hpp>
#include <overdub/core/config.hpp>
#include <overdub/core/requirements.hpp>

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

namespace overdub {

/// The text of an error, formatted without an allocation, in the "C" locale.
struct message {
  char text[320];
  [[gnu::format(printf, 2, 3)]] explicit message(char const* format, ...) {
    io::in_c_locale const numbers_have_points;
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
  }
};

/// The base class of overdub's exceptions. Copying does not throw.
class OVERDUB_EXPORTED error : public std::exception {
public:
  explicit error(message const& why) : message_(why) {}
  char const* what() const noexcept override { return message_.text; }

private:
  message message_;
};

/// The base class of exceptions that reject a program, or a use of overdub, independently of the numbers, so that a retry would fail, too.
/// Exceptions of a program's operations, such as index_error, do not derive from it.
struct OVERDUB_EXPORTED rejected_program : error {
  using error::error;
};

/// An array was indexed outside of its bounds.
struct OVERDUB_EXPORTED index_error : error {
  using error::error;
};

/// Arrays that must have equal sizes have different ones, or a size is not valid.
struct OVERDUB_EXPORTED size_error : error {
  using error::error;
};

/// No machine has memory for an array of this size.
struct array_too_large : size_error {
  using size_error::size_error;
};

/// There is no memory for an array; the text has its size. It derives from std::bad_alloc, and not from error.
class out_of_memory : public std::bad_alloc {
public:
  explicit out_of_memory(message const& why) : message_(why) {}
  char const* what() const noexcept override { return message_.text; }

private:
  message message_;
};

/// An integer was divided by zero.
struct OVERDUB_EXPORTED division_by_zero : error {
  using error::error;
};

/// A value with a dynamic type is requested as another type.
struct OVERDUB_EXPORTED type_error : error {
  using error::error;
};

/// The arguments of a call do not match the program's parameters in number, type or rank.
struct OVERDUB_EXPORTED argument_error : rejected_program {
  using rejected_program::rejected_program;
};

/// An `assert` of a program failed.
struct OVERDUB_EXPORTED assertion_failed : error {
  using error::error;
};

/// Calls of a program were nested deeper than its instance allows.
struct OVERDUB_EXPORTED stack_overflow : error {
  using error::error;
};

/// A host function of a program is missing, or has another type.
struct OVERDUB_EXPORTED host_error : rejected_program {
  using rejected_program::rejected_program;
};

/// The executor does not support a part of the program.
struct OVERDUB_EXPORTED not_executable : rejected_program {
  using rejected_program::rejected_program;
};

/// Checked builds: a call has values of two instances of one context type.
struct OVERDUB_EXPORTED context_mismatch : rejected_program {
  using rejected_program::rejected_program;
};

/// Checked builds: a value was used after its run had ended, or a scope after its call.
struct OVERDUB_EXPORTED escaped_value : rejected_program {
  using rejected_program::rejected_program;
};

/// Checked builds: a `fn` was called inside a strict run, but outside of its contexts.
struct OVERDUB_EXPORTED escaped_call : rejected_program {
  using rejected_program::rejected_program;
};

namespace detail {

#define OVERDUB_COLD [[noreturn, gnu::cold, gnu::noinline]] inline void
#define OVERDUB_TEXT(view) static_cast<int>((view).size()), (view).data()

OVERDUB_COLD throw_index(std::string_view op, long long index, long long size) {
  throw index_error(message(
      "overdub: %.*s: index %lld is out of range for an array of size %lld", OVERDUB_TEXT(op), index, size));
}
OVERDUB_COLD throw_sizes(std::string_view op, long long first, long long other) {
  throw size_error(
      message("overdub: %.*s: arrays of different sizes, %lld and %lld", OVERDUB_TEXT(op), first, other));
}
OVERDUB_COLD throw_negative(std::string_view op, long long size) {
  throw size_error(message("overdub: %.*s: a size of %lld is negative", OVERDUB_TEXT(op), size));
}
OVERDUB_COLD throw_too_large(long long size, std::size_t bytes) {
  throw array_too_large(message(
      "overdub: an array of %lld elements of %zu bytes is larger than the address space", size, bytes));
}
OVERDUB_COLD throw_no_memory(long long size, std::size_t bytes) {
  throw out_of_memory(message(
      "overdub: there is no memory for an array of %lld elements of %zu bytes (%llu bytes); make it smaller, "
      "or make several",
      size, bytes, static_cast<unsigned long long>(size) * bytes));
}
OVERDUB_COLD throw_empty(std::string_view op) {
  throw size_error(message(
      "overdub: %.*s: the array is empty and no initial value is given; write %.*s(f, initial, array)",
      OVERDUB_TEXT(op), OVERDUB_TEXT(op)));
}
OVERDUB_COLD throw_division() {
  throw division_by_zero(message(
      "overdub: an integer was divided by zero; test the divisor first, or divide in floating point"));
}
OVERDUB_COLD throw_mismatch(std::string_view callee, std::string_view context) {
  throw context_mismatch(message(
      "overdub: %.*s was called with values of two different instances of the context %.*s; a value "
      "escaped from one run into another",
      OVERDUB_TEXT(callee), OVERDUB_TEXT(context)));
}
OVERDUB_COLD throw_escaped(std::string_view callee) {
  throw escaped_call(message(
      "overdub: %.*s was called inside a strict run with plain arguments, so no context saw it; call it "
      "through the scope: cx(%.*s, ...)",
      OVERDUB_TEXT(callee), OVERDUB_TEXT(callee)));
}
OVERDUB_COLD throw_outlived(std::string_view callee, std::string_view context) {
  throw escaped_value(message(
      "overdub: %.*s was called with a value of the context %.*s, whose run has ended; a run returns "
      "numbers, and no closures or objects "
      "that keep its values",
      OVERDUB_TEXT(callee), OVERDUB_TEXT(context)));
}
OVERDUB_COLD throw_outlived(std::string_view context) {
  throw escaped_value(message(
      "overdub: a value of the context %.*s is used after its run has ended; a run returns numbers, and no "
      "closures or objects that keep "
      "its values",
      OVERDUB_TEXT(context)));
}
OVERDUB_COLD throw_scope_outlived(std::string_view callee) {
  throw escaped_value(message(
      "overdub: the scope of %.*s is used after that call has returned; call through it before, and return "
      "what it returns",
      OVERDUB_TEXT(callee)));
}
OVERDUB_COLD throw_narrowed_constant() {
  throw type_error(message("overdub: a constant is made of an integer that its type does not represent; "
                           "convert the integer first"));
}
OVERDUB_COLD throw_captured_value(std::string_view context) {
  throw rejected_program(message(
      "overdub: a function that is called with constants alone returns a value of a run of %.*s, which is "
      "not among its arguments: it was "
      "captured, or reached through a pointer or a container; give it that value as an argument, or call it "
      "with the scope, cx(f, x)",
      OVERDUB_TEXT(context)));
}
OVERDUB_COLD throw_constants(std::string_view callee, std::string_view context) {
  throw rejected_program(message(
      "overdub: %.*s is called with constants alone, as T s = 0, which belong to no run of %.*s; lift one of "
      "them with the scope, cx.lift(s), or give it to the run as an argument",
      OVERDUB_TEXT(callee), OVERDUB_TEXT(context)));
}
OVERDUB_COLD throw_no_number() {
  throw rejected_program(
      message("overdub: a hook takes a number, and the program's function has an array there, or a function; "
              "x.visit(f) calls f with either"));
}
OVERDUB_COLD throw_rule_result(std::string_view callee, std::string_view context) {
  throw rejected_program(message(
      "overdub: the rule of %.*s for @%.*s returns another type than the function does in this program; "
      "convert the result with overdub::convert<T>",
      OVERDUB_TEXT(context), OVERDUB_TEXT(callee)));
}
#undef OVERDUB_COLD
#undef OVERDUB_TEXT

} // namespace detail
} // namespace overdub
