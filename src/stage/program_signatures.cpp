#include <overdub/stage/program_signatures.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace overdub::detail {
namespace {

std::string text_in_cpp(ir::type t) {
  if (t.is_function() || t.rank > 2 || t.element > ir::scalar::f64) return "?";
  constexpr char const* names[] = {"?", "bool", "overdub::i64", "float", "double"};
  std::string text = names[static_cast<std::size_t>(t.element)];
  for (int i = 0; i < t.rank; ++i) text = "overdub::array<" + text + ">";
  return text;
}

} // namespace

std::string signature_in_cpp(std::vector<ir::type> const& parameters, std::vector<ir::type> const& results) {
  std::string text;
  for (ir::type const t : results) text += (text.empty() ? "" : ", ") + text_in_cpp(t);
  if (results.size() != 1) text = results.empty() ? "void" : "std::tuple<" + text + ">";
  text += '(';
  for (ir::type const t : parameters) text += (text.back() == '(' ? "" : ", ") + text_in_cpp(t);
  return text + ')';
}

} // namespace overdub::detail
