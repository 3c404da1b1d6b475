// A value that was given for a choice, as one of the choice's type.
#pragma once

#include <overdub/array/elements.hpp>
#include <overdub/contexts/models/choices.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/values.hpp>

#include <concepts>
#include <optional>

namespace overdub::models::detail {
inline namespace OVERDUB_EXECUTE_ABI {

/// A number as one of another type, where a constraint may be written as it: integers, truths and floats are numbers, and 0 and 1 truths.
template <class To, class From>
std::optional<To> as_one_of(From x) {
  if constexpr (std::floating_point<To> ? !std::same_as<From, double> : std::integral<From>)
    if (!std::same_as<To, bool> || x == From(0) || x == From(1)) return static_cast<To>(x);
  return {};
}

/// A value as one of another type; nothing, where it is none of that type. O(elements), or O(1) where it is of that type already.
inline datum converted(datum const& x, ir::type to) {
  if (x.type() == to) return x;
  if (x.type().rank != to.rank) return {};
  return execute::with_type(x.type().element, [&]<class From>(From) {
    return execute::with_type(to.element, [&]<class To>(To) -> datum {
      if (to.rank == 0) {
        auto const y = as_one_of<To>(x.as<From>());
        return y ? datum(*y) : datum();
      }
      array<From> const& from = x.elements<From>();
      overdub::detail::array_builder<To> out(from.size());
      for (i64 i = 0; i < from.size(); ++i) {
        auto const y = as_one_of<To>(from[i]);
        if (!y) return {};
        out.put(i, *y);
      }
      return datum::of(x.shape(), out.finish(from.size()));
    });
  });
}

/// A value that was given for a choice, as one of its type. Throws model_error where it is none.
inline datum given_as(address const& at, datum const& x, ir::type wanted) {
  datum y = converted(x, wanted);
  if (!y)
    throw model_error(message(
        "overdub: %.80s was given a value of type %s, and the model chooses %s%s", text_of(at).c_str(),
        overdub::detail::text_of(x.type()).c_str(), overdub::detail::text_of(wanted).c_str(),
        x.type().rank == 0 && wanted.rank > 0 ? (": give all, or one of them, " + text_of(at) + "[0]").c_str()
        : x.type() == ir::i64 && wanted == ir::boolean ? "; 0 and 1 are taken for false and true"
                                                       : ""));
  return y;
}

/// Throws model_error where what is observed at an address is not what a trace has there.
inline void check_is(address const& at, datum const& observed, datum const& is) {
  if (!(given_as(at, observed, is.type()) == is))
    throw model_error(message(
        "overdub: %.80s is observed as %.80s, and the trace has %.80s: generate one of what is observed",
        text_of(at).c_str(), overdub::text_of(observed).c_str(), overdub::text_of(is).c_str()));
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models::detail
