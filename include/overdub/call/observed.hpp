// observed: an argument or a result of a call, of a type that is known only when the program runs. Ambient contexts receive calls so.
#pragma once

#include <overdub/call/name.hpp>
#include <overdub/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace overdub {

/// An object of a type that ambient contexts do not look into. Streams print the name of its type.
struct observed_object {
  std::string_view type;

  template <class Stream>
  friend Stream& operator<<(Stream& out, observed_object x) {
    out << x.type;
    return out;
  }
};

/// The elements of an array, a vector, or another contiguous container.
template <class T>
struct observed_elements {
  T const* first;
  std::size_t count;

  T const* data() const { return first; }
  T const* begin() const { return first; }
  T const* end() const { return first + count; }
  std::size_t size() const { return count; }
};

/// A view of an argument or a result of a call, valid while the hook runs. It is false for an argument that the call consumed.
class observed {
public:
  template <class X>
  explicit observed(X const& x) {
    if constexpr (std::is_same_v<X, bool>)
      set(form::boolean, number_.boolean, x);
    else if constexpr (std::is_same_v<X, char>)
      set(form::character, number_.character, x);
    else if constexpr (std::is_same_v<X, float>)
      set(form::single, number_.single, x);
    else if constexpr (std::is_floating_point_v<X>)
      set(std::is_same_v<X, double> ? form::real : form::object, number_.real, static_cast<double>(x));
    else if constexpr (std::is_integral_v<X> && sizeof(X) <= sizeof(long)) {
      if constexpr (std::is_signed_v<X>)
        set(form::integer, number_.integer, static_cast<long>(x));
      else
        set(form::natural, number_.natural, static_cast<unsigned long>(x));
    } else if constexpr (std::is_convertible_v<X const&, char const*>) {
      char const* const text = x;
      if (text != nullptr) set_elements(form::text, text, std::string_view(text).size());
    } else if constexpr (std::is_convertible_v<X const&, std::string_view>) {
      std::string_view const text = x;
      set_elements(form::text, text.data(), text.size());
    } else if constexpr (contiguous<X>) {
      using T = std::remove_cvref_t<decltype(*x.data())>;
      if constexpr (element_form<T> != form::object)
        set_elements(element_form<T>, x.data(), static_cast<std::size_t>(x.size()));
    }
    if (form_ == form::object) type_ = type_name<X>();
  }

  explicit observed(observed_object x) : type_(x.type) {}

  /// For an argument that the call consumed.
  void clear() { form_ = form::consumed; }
  /// Whether the call may have consumed the object that was observed, if it was passed as an rvalue.
  bool is_view() const { return form_ >= form::object; }

  explicit operator bool() const { return form_ != form::consumed; }

  /// Calls f with the number, the text as a std::string_view, the elements as observed_elements, or an observed_object.
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
    case form::consumed:
      break;
    }
    return f(observed_object{type_});
  }

  template <class Stream>
  requires requires(Stream& out, std::string_view text, double x) { out << text << x; }
  friend Stream& operator<<(Stream& out, observed const& x) {
    x.visit([&]<class X>(X const& held) {
      if constexpr (requires { held.count; })
        out << held.count << " elements";
      else
        out << held;
    });
    return out;
  }

private:
  // Numbers are copied; forms from `object` on are views.
  enum class form : unsigned char {
    boolean,
    character,
    integer,
    natural,
    single,
    real,
    object,
    text,
    doubles,
    floats,
    longs,
    ints,
    consumed
  };
  template <class T>
  static constexpr form element_form = std::is_same_v<T, double>  ? form::doubles
                                       : std::is_same_v<T, float> ? form::floats
                                       : std::is_same_v<T, long>  ? form::longs
                                       : std::is_same_v<T, int>   ? form::ints
                                                                  : form::object;
  template <class X>
  static constexpr bool contiguous = requires(X const& x) {
    requires std::is_pointer_v<decltype(x.data())>;
    { x.size() } -> std::convertible_to<std::size_t>;
  };

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
  observed_elements<T> elements() const {
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
