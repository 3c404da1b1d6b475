#include <overdub/execute/datum.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <variant>

namespace overdub {
namespace detail {

std::string text_of(ir::type t) {
  std::string text = t.element == ir::scalar::boolean ? "bool"
                     : t.element == ir::scalar::i64   ? "i64"
                     : t.element == ir::scalar::f32   ? "f32"
                     : t.element == ir::scalar::f64   ? "f64"
                                                      : "?";
  for (int i = 0; i < t.rank; ++i) text += "[]";
  return text;
}

[[noreturn, gnu::cold]] void throw_datum_type(ir::type wanted, ir::type found) {
  throw type_error(message(
      "overdub: a datum of type %s is read as %s; read it as its own type, or convert it",
      found ? text_of(found).c_str() : "nothing", text_of(wanted).c_str()));
}
[[noreturn, gnu::cold]] void throw_datum_shape(i64 elements, std::size_t given) {
  throw size_error(message(
      "overdub: a datum of this shape has %lld elements, and %zu are given", static_cast<long long>(elements),
      given));
}
[[noreturn, gnu::cold]] void throw_datum_rank(std::size_t axes) {
  throw size_error(
      message("overdub: a datum has 1 to %d axes, and is given %zu", static_cast<int>(ir::max_rank), axes));
}
[[noreturn, gnu::cold]] void throw_ragged(i64 first, i64 other) {
  throw size_error(message(
      "overdub: the rows of an array have different sizes, %lld and %lld; a datum is rectangular",
      static_cast<long long>(first), static_cast<long long>(other)));
}

} // namespace detail

datum::datum() = default;
datum::datum(datum const& other) = default;
datum::datum(datum&& other) noexcept = default;
datum& datum::operator=(datum const& other) = default;
datum& datum::operator=(datum&& other) noexcept = default;
datum::~datum() = default;

datum datum::with_shape(ir::type element, extents shape, i64 given) {
  if (shape.empty() || shape.size() > std::size_t{ir::max_rank}) detail::throw_datum_rank(shape.size());
  i64 scalars = 1;
  for (i64 const extent : shape)
    if (extent < 0 || __builtin_mul_overflow(scalars, extent, &scalars))
      detail::throw_datum_shape(
          extent < 0 ? extent : std::numeric_limits<i64>::max(), static_cast<std::size_t>(given));
  datum d;
  d.type_ = element;
  d.type_.rank = static_cast<std::uint8_t>(shape.size()) & ir::max_rank;
  d.shape_ = std::move(shape);
  bool empty = false;
  for (i64& extent : d.shape_) {
    if (empty) extent = 0;
    empty = empty || extent == 0;
  }
  if (d.size() != given) detail::throw_datum_shape(d.size(), static_cast<std::size_t>(given));
  return d;
}

struct datum::same {
  template <class T>
  static bool numbers(T a, T b) {
    if constexpr (std::floating_point<T>)
      return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0;
    else
      return a == b;
  }
  template <class A, class B>
  bool operator()(A const& a, B const& b) const {
    if constexpr (!std::same_as<A, B>)
      return false;
    else if constexpr (std::same_as<A, std::monostate>)
      return true;
    else
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto x, auto y) { return numbers(x, y); });
  }
};

bool operator==(datum const& a, datum const& b) {
  if (a.type_ != b.type_ || a.shape_ != b.shape_) return false;
  if (a.type_.rank > 0) return std::visit(datum::same{}, a.elements_, b.elements_);
  switch (a.type_.element) {
  case ir::scalar::f32:
    return datum::same::numbers(ir::number_of_bits<float>(a.bits_), ir::number_of_bits<float>(b.bits_));
  case ir::scalar::f64:
    return datum::same::numbers(ir::number_of_bits<double>(a.bits_), ir::number_of_bits<double>(b.bits_));
  default:
    return a.bits_ == b.bits_;
  }
}

} // namespace overdub
