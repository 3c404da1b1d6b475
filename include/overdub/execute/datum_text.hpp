// The text of a datum, and its parser: 1.5, 2, true, 1.5f32, [1.0, 2.0], [[1, 2], [3, 4]], [] : f64[].
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/ir/error.hpp>

#include <cmath>
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

// Reads a datum from the front of a text.
class datum_reader {
public:
  explicit datum_reader(std::string_view text) : text_(text) {}

  datum read() {
    skip_space();
    if (here() != '[') return read_scalar();
    extents_.clear();
    read_array(0);
    skip_space();
    ir::type declared{};
    if (here() == ':') {
      std::size_t const colon = at_++;
      declared = read_type();
      if (declared.rank == 0 || (element_ && declared.element != element_.element))
        fail(colon, "the type does not fit what stands before it");
    }
    if (!element_) {
      if (!declared) fail(at_, "an array without elements needs its type, as in [] : f64[]");
      element_.element = declared.element;
      if (declared.rank < extents_.size()) fail(at_, "the type has fewer axes than what stands before it");
      extents_.resize(declared.rank, 0);
    } else if (declared && declared.rank != extents_.size())
      fail(at_, "the type has another number of axes than what stands before it");
    switch (element_.element) {
    case ir::scalar::boolean:
      return finish<bool>();
    case ir::scalar::i64:
      return finish<i64>();
    case ir::scalar::f32:
      return finish<float>();
    default:
      return finish<double>();
    }
  }

  std::size_t at() {
    skip_space();
    return at_;
  }
  bool is_at_end() { return at() == text_.size(); }
  [[noreturn]] void fail(std::size_t where, std::string const& why) const {
    std::uint32_t line = 1, column = 1;
    for (std::size_t i = 0; i < where && i < text_.size(); ++i)
      text_[i] == '\n' ? (++line, column = 1) : ++column;
    throw ir::parse_error({{.text = "a datum: " + why, .line = line, .column = column}});
  }

private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (here() == ' ' || here() == '\n' || here() == '\t' || here() == '\r') ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  // What follows a number, or a word of letters and digits.
  std::string_view word() const {
    std::size_t end = at_;
    auto const is_part = [&](char c) {
      bool const sign = c == '+' || (c == '-' && (end == at_ || text_[end - 1] == 'e'));
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || sign;
    };
    while (end < text_.size() && is_part(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

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

  datum read_scalar() {
    skip_space();
    std::size_t const where = at_;
    std::string_view text = word();
    at_ += text.size();
    if (text == "true" || text == "false") return text == "true";
    bool const is_inf = text.find("inf") != std::string_view::npos;
    if (text.size() > 3 && text.ends_with("f32"))
      return floating<float>(text.substr(0, text.size() - 3), where);
    if (is_inf || text.find("nan") != std::string_view::npos ||
        text.find_first_of(".e") != std::string_view::npos)
      return floating<double>(text, where);
    return number<i64>(text, where);
  }

  void read_array(std::size_t axis) {
    constexpr std::size_t most = 64;
    std::size_t const start = at_;
    if (axis == most) fail(start, "arrays have at most 64 axes");
    ++at_; // [
    bool const known = axis < extents_.size();
    if (!known) extents_.push_back(-1);
    i64 n = 0;
    for (skip_space(); here() != ']'; skip_space()) {
      if (n > 0 && !take(",")) fail(at_, "',' or ']' was expected");
      skip_space();
      if (here() == '[') {
        if (scalars_at_ == axis + 1) fail(at_, "a number stands beside an array");
        read_array(axis + 1);
      } else {
        std::size_t const where = at_;
        if (extents_.size() > axis + 1) fail(where, "a number stands beside an array");
        scalars_at_ = axis + 1;
        datum const x = read_scalar();
        if (!element_) element_ = x.type();
        if (x.type() != element_)
          fail(
              where, "the elements have different types, " + text_of(element_) + " and " + text_of(x.type()));
        bits_.push_back(x.bits());
      }
      ++n;
    }
    ++at_; // ]
    if (extents_[axis] >= 0 && extents_[axis] != n) fail(start, "the rows have different sizes");
    extents_[axis] = n;
  }

  ir::type read_type() {
    skip_space();
    ir::type t{};
    if (take("bool"))
      t = ir::boolean;
    else if (take("i64"))
      t = ir::i64;
    else if (take("f32"))
      t = ir::f32;
    else if (take("f64"))
      t = ir::f64;
    else
      fail(at_, "a type was expected: bool, i64, f32 or f64, and [] for each axis");
    while (t.rank < ir::max_rank && take("[]")) ++t.rank;
    return t;
  }

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
  std::size_t scalars_at_ = 0; // the depth that scalars stand at; 0: none yet
  datum::extents extents_;
  std::vector<std::uint64_t> bits_;
};

} // namespace detail

/// The text of a datum, from which parse_datum makes the same again; floating-point numbers in as few digits as that takes.
/// O(its length).
inline std::string text_of(datum const& d) {
  std::string out;
  ir::type const t = d.type();
  auto const write = [&]<class T>(T) {
    i64 next = 0;
    if (t.rank > 0)
      detail::write_part(out, d, d.elements<T>(), 0, next);
    else
      detail::write_scalar(out, d.as<T>());
  };
  switch (t.element) {
  case ir::scalar::boolean:
    write(bool{});
    break;
  case ir::scalar::i64:
    write(i64{});
    break;
  case ir::scalar::f32:
    write(float{});
    break;
  case ir::scalar::f64:
    write(double{});
    break;
  default:
    return "nothing";
  }
  if (t.rank > 0 && d.size() == 0) out += " : " + detail::text_of(t);
  return out;
}
inline std::ostream& operator<<(std::ostream& out, datum const& d) { return out << text_of(d); }

/// The datum at the front of a text, which is removed from it, with the space behind. Throws ir::parse_error. O(its length).
inline datum take_datum(std::string_view& text) {
  detail::datum_reader reader(text);
  datum d = reader.read();
  text.remove_prefix(reader.at());
  return d;
}
/// The datum that a text is. Throws ir::parse_error.
inline datum parse_datum(std::string_view text) {
  detail::datum_reader reader(text);
  datum d = reader.read();
  if (!reader.is_at_end()) reader.fail(reader.at(), "something stands behind it");
  return d;
}

} // namespace overdub
