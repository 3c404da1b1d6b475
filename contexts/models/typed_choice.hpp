// A value that was given for a choice, as one of the choice's type.
#pragma once

#include <overdub/array/elements.hpp>
#include <overdub/contexts/models/choices.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/values.hpp>
#include <overdub/header_only.hpp>

#include <concepts>
#include <optional>

namespace overdub::models::detail {
inline namespace OVERDUB_EXECUTE_ABI {

/// A number as one of another type, where a constraint may be written as it: integers, bools and floats are numbers, and 0 and 1 are bools.
template <class To, class From>
std::optional<To> as_one_of(From x) {
  if constexpr (std::floating_point<To> ? !std::same_as<From, double> : std::integral<From>)
    if (!std::same_as<To, bool> || x == From(0) || x == From(1)) return static_cast<To>(x);
  return {};
}

/// A value as one of another type; nothing, where it is none of that type. O(elements), or O(1) where it is of that type already.
OVERDUB_DECL datum converted(datum const& x, ir::type to);

/// A value that was given for a choice, as one of its type. Throws model_error where it is none.
OVERDUB_DECL datum given_as(address const& at, datum const& x, ir::type wanted);

/// Throws model_error where what is observed at an address is not what a trace has there.
OVERDUB_DECL void check_is(address const& at, datum const& observed, datum const& is);

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models::detail

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/typed_choice.ipp>
#endif
