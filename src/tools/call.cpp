#include "call.hpp"

#include <overdub/execute/datum_text.hpp>
#include <overdub/implementation/ir/literal.hpp>

namespace overdub::tools {

void line_reader::skip() {
  while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r')) ++at_;
}

bool line_reader::take(std::string_view part) {
  if (!rest().starts_with(part)) return false;
  at_ += part.size();
  skip();
  return true;
}

void line_reader::expect(std::string_view part) {
  if (!take(part)) fail_expected(std::string(part));
}

void line_reader::fail_expected(std::string const& what) const {
  std::string_view const found = rest().substr(0, 20);
  throw text_error(
      at_, "expected " + what + (found.empty() ? ", found the end" : ", found '" + std::string(found) + "'"));
}

std::string_view line_reader::word() {
  std::size_t const start = at_;
  while (at_ < line_.size() && ir::detail::is_a(line_[at_], ir::detail::word_part)) ++at_;
  std::string_view const found = line_.substr(start, at_ - start);
  skip();
  return found;
}

datum line_reader::read_datum() {
  std::string_view text = rest();
  try {
    datum d = take_datum(text);
    at_ = line_.size() - text.size();
    skip();
    return d;
  } catch (ir::parse_error const& e) {
    ir::diagnostic const& fault = e.diagnostics.front(); // a call is one line
    std::string_view sentence = fault.text;
    if (sentence.starts_with("a datum: ")) sentence.remove_prefix(9);
    throw text_error(at_ + fault.column - 1, std::string(sentence));
  }
}

call line_reader::read_call() {
  call c;
  if (!take("@")) fail_expected("a call, as in @f(1.0, [1, 2])");
  if (take("\"")) {
    std::size_t const end = rest().find('"');
    if (end == std::string_view::npos) fail_expected("a name in quotes");
    c.function = rest().substr(0, end);
    at_ += end + 1;
    skip();
  } else {
    std::size_t const start = at_;
    while (at_ < line_.size() && ir::detail::is_a(line_[at_], ir::detail::name_part)) ++at_;
    if (at_ == start) fail_expected("the name of a function");
    c.function = line_.substr(start, at_ - start);
    skip();
  }
  expect("(");
  if (take(")")) return c;
  do c.arguments.push_back(read_datum());
  while (take(","));
  expect(")");
  return c;
}

call parse_call(std::string_view text) {
  line_reader in(text);
  call c = in.read_call();
  if (!in.is_at_end()) in.fail_expected("the end of the call");
  return c;
}

} // namespace overdub::tools
