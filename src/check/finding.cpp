#include <overdub/check/finding.hpp>

#include <string>

namespace overdub {

std::string text_of(finding const& x) {
  std::string text = x.where.empty() ? "" : x.where + ": ";
  text += x.how == severity::certain ? "certain: " : "possible: ";
  text += x.what;
  text += " (" + x.operation + ", in " + x.in + ")";
  return text;
}

} // namespace overdub

namespace overdub::checking {

std::string text_of(ir::program const& p, ir::place_id at) {
  std::string text;
  for (ir::place_id i = at; i != ir::nothing; i = p[i].next) {
    if (!text.empty()) text.append(", ");
    text.append(p.text(p[i].file)).append(":").append(std::to_string(p[i].line));
    if (p[i].column != 0) text.append(":").append(std::to_string(p[i].column));
  }
  return text;
}

std::string called(ir::program const& p, ir::function_id f) {
  std::string text = "@";
  return text += p.name_of(f);
}

} // namespace overdub::checking
