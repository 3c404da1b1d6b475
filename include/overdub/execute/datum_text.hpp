// The text of a datum, and its parser: 1.5, 2, true, 1.5f32, [1.0, 2.0], [[1, 2], [3, 4]], [] : f64[].
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/ir/error.hpp>

#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>

namespace overdub {
namespace detail {

inline void write_scalar(std::string& out, bool x) { out += x ? "true" : "false"; }
inline void write_scalar(std::string& out, i64 x) { out += std::to_string(x); }
template <std::floating_point T>
void write_scalar(std::string& out, T x) {
  if (overdub::is_nan(x))
    out += "nan";
  else if (overdub::is_infinite(x))
    out += x < 0 ? "-inf" : "inf";
  else {
    std::string const digits = io::number_text(x);
    out += digits;
    if (digits.find_first_of(".e") == std::string::npos) out += ".0";
  }
  if constexpr (std::same_as<T, float>) out += "f32";
}

template <class T>
void write_part(std::string& out, datum const& d, array<T> const& all, std::size_t axis, i64& at) {
  if (axis == d.shape().size()) return write_scalar(out, all.data()[at++]);
  out += '[';
  for (i64 i = 0; i < d.shape()[axis]; ++i) {
    if (i > 0) out += ", ";
    write_part(out, d, all, axis + 1, at);
  }
  out += ']';
}

// Parses a datum at the start of a text.
class datum_reader {
public:
  explicit datum_reader(std::string_view text) : text_(text) {}

  datum read();

  std::size_t at();
  bool is_at_end() { return at() == text_.size(); }
  [[noreturn]] void fail(std::size_t where, std::string const& why) const;

private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (here() == ' ' || here() == '\n' || here() == '\t' || here() == '\r') ++at_;
  }
  bool take(std::string_view word);

  // The next number, or word of letters and digits.
  std::string_view word() const;

  template <class T>
  T number(std::string_view digits, std::size_t where) const {
    T x{};
    char const* const last = digits.data() + digits.size();
    auto const [end, failed] = io::parse_number(digits.data(), last, x);
    if (failed == std::errc::result_out_of_range)
      fail(where, "the number " + std::string(digits) + " is out of its type's range");
    if (failed != std::errc{} || end != last)
      fail(where, "a number, true or false was expected, and not '" + std::string(digits) + "'");
    return x;
  }
  template <class T>
  T floating(std::string_view digits, std::size_t where) const {
    if (digits == "nan" || digits == "-nan") return std::numeric_limits<T>::quiet_NaN();
    if (digits == "inf") return std::numeric_limits<T>::infinity();
    if (digits == "-inf") return -std::numeric_limits<T>::infinity();
    return number<T>(digits, where);
  }

  datum read_scalar();

  void read_array(std::size_t axis);

  ir::type read_type();

  template <class T>
  datum finish() {
    array_builder<T> out(static_cast<i64>(bits_.size()));
    i64 n = 0;
    for (std::uint64_t const bits : bits_)
      out.put(n++, datum::of_bits(type_of_cpp<T>, bits).template as<T>());
    return datum::of({extents_.begin(), extents_.end()}, out.finish(n));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  ir::type element_{};
  std::size_t scalars_at_ = 0; // the depth of scalars; 0: unknown
  datum::extents extents_;
  std::vector<std::uint64_t> bits_;
};

} // namespace detail

/// The text of a datum, which parse_datum reads back; floating-point numbers have the fewest digits that allow this. O(its
/// length).
std::string text_of(datum const& d);
inline std::ostream& operator<<(std::ostream& out, datum const& d) { return out << text_of(d); }

/// Parses the datum at the start of a text, and removes it and the following space. Throws ir::parse_error. O(its length).
datum take_datum(std::string_view& text);
/// Parses a datum. Throws ir::parse_error.
datum parse_datum(std::string_view text);

} // namespace overdub
