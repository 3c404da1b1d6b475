// The conversion of a given value to the type of its choice.
#pragma once

#include <overdub/array/elements.hpp>
#include <overdub/core/library.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/values.hpp>
#include <overdub/models/choices.hpp>

#include <concepts>
#include <optional>

namespace overdub::models::detail {

/// Converts a number of a constraint: integers, bools and floats to floating-point numbers, and 0 and 1 to bools; nothing else.
template <class To, class From>
std::optional<To> as_one_of(From x) {
  if constexpr (std::floating_point<To> ? !std::same_as<From, double> : std::integral<From>)
    if (!std::same_as<To, bool> || x == From(0) || x == From(1)) return static_cast<To>(x);
  return {};
}

/// Converts a value or the elements of an array; nothing, where one is no value of that type. O(elements), or O(1) for the same type.
datum converted(datum const& x, ir::type to);

/// Converts a given value to the type of its choice. Throws model_error where it cannot.
datum typed_value(address const& at, datum const& x, ir::type wanted);

/// Throws model_error where an observation differs from the choice of a trace.
void check_equals(address const& at, datum const& observed, datum const& is);

} // namespace overdub::models::detail
