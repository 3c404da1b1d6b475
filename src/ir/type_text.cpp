#include <overdub/implementation/ir/literal.hpp>
#include <overdub/ir/type_text.hpp>

#include <vector>

namespace overdub::ir {

void append_type(std::string& out, program const& p, type t) {
  auto const list = [&](std::vector<type> const& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) out += ", ";
      append_type(out, p, all[i]);
    }
  };
  if (t.is_accumulator) out += "acc ";
  switch (t.element) {
  case scalar::none:
    out += '?';
    break;
  case scalar::boolean:
    out += "bool";
    break;
  case scalar::i64:
    out += "i64";
    break;
  case scalar::f32:
    out += "f32";
    break;
  case scalar::f64:
    out += "f64";
    break;
  case scalar::key:
    out += "key";
    break;
  case scalar::opaque:
    out += "opaque ";
    append_quoted(out, p.opaque_name(t));
    break;
  case scalar::function: {
    signature const& s = p.signature_of(t);
    bool const in_brackets = s.results.size() != 1 || s.results[0].element == scalar::function;
    if (t.rank > 0) out += '(';
    out += s.calls == convention::direct     ? "fn("
           : s.calls == convention::indirect ? "indirect fn("
                                             : "boxed fn(";
    list(s.parameters);
    out += ") -> ";
    if (in_brackets) out += '(';
    list(s.results);
    if (in_brackets) out += ')';
    if (t.rank > 0) out += ')';
  } break;
  }
  for (int i = 0; i < t.rank; ++i) out += "[]";
}

std::string text_of(program const& p, type t) {
  std::string text;
  append_type(text, p, t);
  return text;
}

} // namespace overdub::ir
