// ambient_value: an argument or a result of a call, of a type that is known only when the program runs. Ambient contexts receive calls so.
#pragma once

#include <overdub/call/ambient_object.hpp>
#include <overdub/call/name.hpp>
#include <overdub/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace overdub {

/// The elements of a vector, an array, or another contiguous range of numbers.
template <class T>
struct ambient_elements {
  T const* first;
  std::size_t count;

  T const* data() const { return first; }
  T const* begin() const { return first; }
  T const* end() const { return first + count; }
  std::size_t size() const { return count; }
};

namespace detail {
template <class X>
inline constexpr bool is_text = std::is_same_v<X, std::string_view>;
template <class Allocator>
inline constexpr bool is_text<std::basic_string<char, std::char_traits<char>, Allocator>> = true;

// A range whose elements can be found without code that may throw.
template <class X>
concept range_of_numbers = requires(X const& x) {
  requires std::contiguous_iterator<decltype(std::ranges::begin(x))>;
  requires std::is_arithmetic_v<std::iter_value_t<decltype(std::ranges::begin(x))>>;
  std::ranges::end(x);
  { std::ranges::data(x) }
  noexcept;
  { std::ranges::size(x) }
  noexcept;
};
} // namespace detail

/// A number, by value; or a view of a text, of a range of numbers, or of another object, which is valid while a hook `before` runs, or, for
/// a result, a hook `after`. It is false if it is not known: an argument that is no number, after the call, which may have changed it.
class ambient_value {
public:
  template <class X>
  explicit ambient_value(X const& x) {
    if constexpr (std::is_same_v<X, bool>)
      set(form::boolean, number_.boolean, x);
    else if constexpr (std::is_same_v<X, char>)
      set(form::character, number_.character, x);
    else if constexpr (std::is_same_v<X, float>)
      set(form::single, number_.single, x);
    else if constexpr (std::is_same_v<X, double>)
      set(form::real, number_.real, x);
    else if constexpr (std::is_integral_v<X> && sizeof(X) <= sizeof(long)) {
      if constexpr (std::is_signed_v<X>)
        set(form::integer, number_.integer, static_cast<long>(x));
      else
        set(form::natural, number_.natural, static_cast<unsigned long>(x));
    } else if constexpr (detail::is_text<X>)
      set_elements(form::text, x.data(), x.size());
    else if constexpr (std::is_same_v<std::remove_extent_t<X>, char> && std::is_bounded_array_v<X>) {
      std::string_view const text(x, std::extent_v<X>); // with or without a null character at its end
      set_elements(form::text, text.data(), std::min(text.find('\0'), text.size()));
    } else if constexpr (detail::range_of_numbers<X>) {
      using T = std::iter_value_t<decltype(std::ranges::begin(x))>;
      if constexpr (element_form<T> != form::object)
        set_elements(element_form<T>, std::ranges::data(x), static_cast<std::size_t>(std::ranges::size(x)));
    }
    if (form_ == form::object) type_ = type_name<X>();
  }
  explicit ambient_value(ambient_object x) : type_(x.type) {}
  /// A value that is not known.
  ambient_value() : form_(form::unknown) {}

  bool is_number() const { return form_ < form::object; }
  explicit operator bool() const { return form_ != form::unknown; }

  /// Calls f with the number, the text as a std::string_view, the elements as ambient_elements, or an ambient_object.
  template <class F>
  decltype(auto) visit(F const& f) const {
    switch (form_) {
    case form::boolean:
      return f(number_.boolean);
    case form::character:
      return f(number_.character);
    case form::integer:
      return f(number_.integer);
    case form::natural:
      return f(number_.natural);
    case form::single:
      return f(number_.single);
    case form::real:
      return f(number_.real);
    case form::text:
      return f(std::string_view(static_cast<char const*>(elements_), count_));
    case form::doubles:
      return f(elements<double>());
    case form::floats:
      return f(elements<float>());
    case form::longs:
      return f(elements<long>());
    case form::ints:
      return f(elements<int>());
    case form::object:
    case form::unknown:
      break;
    }
    return f(ambient_object{type_});
  }

  template <class Stream>
  requires requires(Stream& out, std::string_view text, double x) { out << text << x; }
  friend Stream& operator<<(Stream& out, ambient_value const& x) {
    x.visit([&]<class X>(X const& held) {
      if constexpr (requires { held.count; })
        out << held.count << " elements";
      else
        out << held;
    });
    return out;
  }

private:
  enum class form : unsigned char {
    boolean,
    character,
    integer,
    natural,
    single,
    real,
    object, // this and what follows are views
    text,
    doubles,
    floats,
    longs,
    ints,
    unknown
  };
  template <class T>
  static constexpr form element_form = std::is_same_v<T, double>  ? form::doubles
                                       : std::is_same_v<T, float> ? form::floats
                                       : std::is_same_v<T, long>  ? form::longs
                                       : std::is_same_v<T, int>   ? form::ints
                                                                  : form::object;

  template <class Number, class X>
  void set(form what, Number& number, X x) {
    form_ = what;
    number = x;
  }
  void set_elements(form what, void const* first, std::size_t count) {
    form_ = what;
    elements_ = first;
    count_ = count;
  }
  template <class T>
  ambient_elements<T> elements() const {
    return {static_cast<T const*>(elements_), count_};
  }

  form form_ = form::object;
  union {
    bool boolean;
    char character;
    long integer;
    unsigned long natural;
    float single;
    double real;
  } number_{};
  void const* elements_ = nullptr;
  std::size_t count_ = 0;
  std::string_view type_;
};

} // namespace overdub
