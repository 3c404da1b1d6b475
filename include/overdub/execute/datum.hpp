// datum: a dynamically typed value: a bool, a number, or an array of them of any rank. Tests, tools and the reference
// evaluator run programs on data, where C++ types are not known.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/array/widened.hpp>
#include <overdub/core/error.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/literal_bits.hpp>
#include <overdub/ir/type_of_cpp.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace overdub {
namespace detail {

// The numbers of an array of arrays.
template <class T>
struct number_in {
  using type = T;
};
template <class T>
struct number_in<array<T>> : number_in<T> {};

/// f64[][]; of types that a datum can have.
std::string text_of(ir::type t);

[[noreturn, gnu::cold]] void throw_datum_type(ir::type wanted, ir::type found);
[[noreturn, gnu::cold]] void throw_ragged(i64 first, i64 other);

} // namespace detail

/// A C++ type whose values programs compute with: bool, i64, float, double, and array<...> of them.
template <class T>
concept datum_type = static_cast<bool>(detail::type_of_cpp<T>);

/// A value of a program: a scalar, or a rectangular array in row-major order. Immutable; copies are independent, and O(1)
/// apart from the shape. Two are equal if they have one type, one shape and the same bits; all NaNs are equal.
class datum {
public:
  using extents = std::vector<i64>;

  /// No value; its type is none.
  datum();
  datum(datum const& other);
  datum(datum&& other) noexcept;
  datum& operator=(datum const& other);
  datum& operator=(datum&& other) noexcept;
  ~datum();
  /// A scalar. Integers other than i64 are converted; throws argument_error for one out of its range.
  template <class T>
  requires std::integral<T> || std::same_as<T, float> || std::same_as<T, double> datum(T x) {
    if constexpr (std::same_as<T, bool>)
      type_ = ir::boolean, bits_ = ir::bits_of_number(x);
    else if constexpr (std::integral<T>)
      type_ = ir::i64, bits_ = ir::bits_of_number(widened(x));
    else
      type_ = detail::type_of_cpp<T>, bits_ = ir::bits_of_number(x);
  }
  /// An array of numbers, which is shared; or of arrays, which are copied. Throws size_error if rows differ in size.
  template <class T>
  requires datum_type<array<T>> datum(array<T> const& a) : type_(detail::type_of_cpp<array<T>>) {
    shape_.assign(type_.rank, 0);
    if constexpr (datum_type<array<T>> && detail::type_of_cpp<T>.rank == 0) {
      shape_[0] = a.size();
      elements_ = a.owned();
    } else {
      using number = typename detail::number_in<T>::type;
      measure(a, 0, true);
      detail::array_builder<number> out(size());
      i64 next = 0;
      gather(a, out, next);
      elements_ = out.finish(next);
    }
  }
  /// From a vector, or an array or vector of integers other than i64. Copies.
  template <class X>
  requires(!datum_type<X> && detail::is_row<X> && datum_type<widened_t<X>>) datum(X const& x)
      : datum(widened(x)) {}
  /// A scalar of this type, from its bits in the format of literals.
  static datum of_bits(ir::type t, std::uint64_t bits) {
    datum d;
    d.type_ = t;
    d.bits_ = bits;
    return d;
  }
  /// An array of this shape, with at least one axis, in row-major order. Throws size_error if the shape has another number
  /// of elements.
  template <class T>
  requires(datum_type<T>&& detail::type_of_cpp<T>.rank == 0) //
      static datum of(extents shape, array<T> elements) {
    datum d = with_shape(detail::type_of_cpp<T>, std::move(shape), elements.size());
    d.elements_ = elements.owned();
    return d;
  }

  ir::type type() const { return type_; }
  explicit operator bool() const { return static_cast<bool>(type_); }
  /// The extent of each axis; after an extent of 0, all are 0. Empty for a scalar.
  extents const& shape() const { return shape_; }
  /// The number of scalars.
  i64 size() const {
    i64 n = 1;
    for (i64 const extent : shape_) n *= extent;
    return n;
  }
  /// The bytes of its numbers.
  std::size_t bytes() const {
    std::size_t const each = type_.element == ir::scalar::boolean ? sizeof(bool)
                             : type_.element == ir::scalar::f32   ? sizeof(float)
                                                                  : sizeof(std::uint64_t);
    return static_cast<std::size_t>(size()) * each;
  }
  /// The bits of a scalar, in the format of literals.
  std::uint64_t bits() const { return bits_; }
  /// The scalars of an array, in row-major order. Throws type_error if they are not of type T.
  template <class T>
  requires(datum_type<T>&& detail::type_of_cpp<T>.rank == 0) //
      array<T>
  const& elements() const {
    if (auto const* const a = std::get_if<array<T>>(&elements_)) return *a;
    ir::type wanted = detail::type_of_cpp<T>;
    wanted.rank = type_.rank;
    detail::throw_datum_type(wanted, type_);
  }

  /// The value as a C++ type: as<double>(), as<array<array<double>>>(). Throws type_error for another type. O(1); O(n) for
  /// arrays of arrays.
  template <datum_type T>
  T as() const {
    if (type_ != detail::type_of_cpp<T>) detail::throw_datum_type(detail::type_of_cpp<T>, type_);
    if constexpr (detail::type_of_cpp<T>.rank == 0)
      return ir::number_of_bits<T>(bits_);
    else {
      i64 next = 0;
      return part<T>(elements<typename detail::number_in<T>::type>(), 0, next);
    }
  }

  friend bool operator==(datum const& a, datum const& b);

private:
  struct same;

  template <class T>
  void measure(array<T> const& a, std::size_t axis, bool first) {
    if (!first && shape_[axis] != a.size()) detail::throw_ragged(shape_[axis], a.size());
    shape_[axis] = a.size();
    if constexpr (detail::type_of_cpp<T>.rank > 0)
      for (i64 i = 0; i < a.size(); ++i) measure(a.data()[i], axis + 1, first && i == 0);
  }
  template <class T, class Out>
  static void gather(array<T> const& a, Out& out, i64& next) {
    if constexpr (detail::type_of_cpp<T>.rank > 0)
      for (array<T> const& row = a; T const& x : row) gather(x, out, next);
    else {
      out.put_all(next, a.span());
      next += a.size();
    }
  }
  template <class T, class E>
  T part(array<E> const& all, std::size_t axis, i64& next) const {
    using element = typename T::value_type;
    if constexpr (std::same_as<element, E>) {
      if (shape_.size() == 1) return all;
      i64 const first = next;
      next += shape_[axis];
      return T::copy_of(
          all.span().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(shape_[axis])));
    } else {
      detail::array_builder<element> out(shape_[axis]);
      for (i64 i = 0; i < shape_[axis]; ++i) out.put(i, part<element>(all, axis + 1, next));
      return out.finish(shape_[axis]);
    }
  }
  static datum with_shape(ir::type element, extents shape, i64 given);

  ir::type type_{};
  std::uint64_t bits_ = 0; // of a scalar
  extents shape_;
  std::variant<std::monostate, array<bool>, array<i64>, array<float>, array<double>> elements_;
};

} // namespace overdub
