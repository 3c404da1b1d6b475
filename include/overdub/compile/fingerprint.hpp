// Serialisation of fingerprints, the run-time data of a context on which programs depend (has_fingerprint). Contexts of one type with equal
// fingerprints share compiled functions.
#pragma once

#include <overdub/call/context.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>

#include <concepts>
#include <cstdint>
#include <span> // declares the concepts of ranges, in a fifth of the time that <ranges> takes
#include <string>
#include <tuple>
#include <type_traits>

namespace overdub::detail {

// Serialises a value, so that different values of one type have different bytes.
class fingerprint_writer {
public:
  explicit fingerprint_writer(std::string& out) : out_(out) {}

  template <class X>
  void operator()(X const& x) const {
    if constexpr (std::is_same_v<X, long double>)
      refuse<X>();
    else if constexpr (std::is_arithmetic_v<X> || std::is_enum_v<X>)
      out_.append(reinterpret_cast<char const*>(&x), sizeof x);
    else if constexpr (std::ranges::sized_range<X const>) {
      static_assert(
          !std::ranges::view<X>, "overdub: a fingerprint is stored in the cache; return the data from "
                                 "fingerprint(), and not a view of them");
      (*this)(static_cast<std::uint64_t>(std::ranges::size(x)));
      for (auto const& e : x)
        (*this)(static_cast<std::ranges::range_value_t<X const>>(e)); // converts the proxies of vector<bool>
    } else if constexpr (requires {
                           x.has_value();
                           *x;
                         }) {
      (*this)(x.has_value());
      if (x.has_value()) (*this)(*x);
    } else if constexpr (requires { std::tuple_size<X>::value; })
      std::apply([&](auto const&... e) { ((*this)(e), ...); }, x);
    else if constexpr (boost::hana::Struct<X>::value)
      boost::hana::for_each(
          boost::hana::accessors<X>(), [&](auto const& member) { (*this)(boost::hana::second(member)(x)); });
    else
      refuse<X>();
  }

private:
  template <class X>
  static consteval void refuse() {
    static_assert(
        std::is_same_v<X, void>, "overdub: a fingerprint is made of numbers, enumerations, strings, ranges, "
                                 "optionals, tuples and described "
                                 "structs; return such data from fingerprint()");
  }
  std::string& out_;
};

// A context with a version number, which is part of the key.
template <class C>
concept has_version = std::is_integral_v<std::remove_cvref_t<decltype(C::version)>>;

// Appends the version and the fingerprint of a context, if it has them.
template <class C>
void write_fingerprint(std::string& to, C const& context) {
  fingerprint_writer const append(to);
  if constexpr (has_version<C>) append(context.version);
  if constexpr (has_fingerprint<C>) append(context.fingerprint());
}
template <class... C>
void write_fingerprints(std::string& to, C const&... c) {
  (write_fingerprint(to, c), ...);
}

} // namespace overdub::detail
