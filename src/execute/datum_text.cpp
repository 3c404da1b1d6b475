#include <overdub/execute/datum_text.hpp>

#include <ostream>
#include <string>
#include <string_view>
#include <system_error>

namespace overdub::detail {

datum datum_reader::read() {
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
      fail(colon, "the type does not fit the elements before it");
  }
  if (!element_) {
    if (!declared) fail(at_, "an array without elements needs its type, as in [] : f64[]");
    element_.element = declared.element;
    if (declared.rank < extents_.size()) fail(at_, "the type has fewer axes than the array before it");
    extents_.resize(declared.rank, 0);
  } else if (declared && declared.rank != extents_.size())
    fail(at_, "the type has another number of axes than the array before it");
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

std::size_t datum_reader::at() {
  skip_space();
  return at_;
}

void datum_reader::fail(std::size_t where, std::string const& why) const {
  std::uint32_t line = 1, column = 1;
  for (std::size_t i = 0; i < where && i < text_.size(); ++i)
    text_[i] == '\n' ? (++line, column = 1) : ++column;
  throw ir::parse_error({{.text = "a datum: " + why, .line = line, .column = column}});
}

bool datum_reader::take(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

std::string_view datum_reader::word() const {
  std::size_t end = at_;
  auto const is_part = [&](char c) {
    bool const sign = c == '+' || (c == '-' && (end == at_ || text_[end - 1] == 'e'));
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || sign;
  };
  while (end < text_.size() && is_part(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

datum datum_reader::read_scalar() {
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

void datum_reader::read_array(std::size_t axis) {
  constexpr std::size_t maximum = 64;
  std::size_t const start = at_;
  if (axis == maximum) fail(start, "arrays have at most 64 axes");
  ++at_; // [
  bool const known = axis < extents_.size();
  if (!known) extents_.push_back(-1);
  i64 n = 0;
  for (skip_space(); here() != ']'; skip_space()) {
    if (n > 0 && !take(",")) fail(at_, "',' or ']' was expected");
    skip_space();
    if (here() == '[') {
      if (scalars_at_ == axis + 1) fail(at_, "a number and an array are elements of one array");
      read_array(axis + 1);
    } else {
      std::size_t const where = at_;
      if (extents_.size() > axis + 1) fail(where, "a number and an array are elements of one array");
      scalars_at_ = axis + 1;
      datum const x = read_scalar();
      if (!element_) element_ = x.type();
      if (x.type() != element_)
        fail(where, "the elements have different types, " + text_of(element_) + " and " + text_of(x.type()));
      bits_.push_back(x.bits());
    }
    ++n;
  }
  ++at_; // ]
  if (extents_[axis] >= 0 && extents_[axis] != n) fail(start, "the rows have different sizes");
  extents_[axis] = n;
}

ir::type datum_reader::read_type() {
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

} // namespace overdub::detail

namespace overdub {

std::string text_of(datum const& d) {
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

datum take_datum(std::string_view& text) {
  detail::datum_reader reader(text);
  datum d = reader.read();
  text.remove_prefix(reader.at());
  return d;
}

datum parse_datum(std::string_view text) {
  detail::datum_reader reader(text);
  datum d = reader.read();
  if (!reader.is_at_end()) reader.fail(reader.at(), "something follows it");
  return d;
}

} // namespace overdub
