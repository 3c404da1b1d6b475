#include <overdub/ir/rule_signature.hpp>

#include <span>
#include <vector>

namespace overdub::ir {
namespace {

void append_all(std::vector<type>& to, std::span<type const> types) {
  to.insert(to.end(), types.begin(), types.end());
}

void append_differentiable(std::vector<type>& to, std::span<type const> types) {
  for (type const t : types)
    if (is_differentiable(t)) to.push_back(t);
}

} // namespace

rule_signature tangent_signature(std::span<type const> parameters, std::span<type const> results) {
  rule_signature s;
  append_all(s.parameters, results);
  append_all(s.parameters, parameters);
  append_differentiable(s.parameters, parameters);
  append_differentiable(s.results, results);
  return s;
}

rule_signature cotangent_signature(std::span<type const> parameters, std::span<type const> results) {
  rule_signature s;
  append_all(s.parameters, results);
  append_all(s.parameters, parameters);
  append_differentiable(s.parameters, results);
  append_differentiable(s.results, parameters);
  return s;
}

} // namespace overdub::ir
