#include <overdub/ir/function_types.hpp>

#include <cstddef>
#include <vector>

namespace overdub::ir {
namespace {

bool differ_only_in_conventions_each(
    program const& p, std::vector<type> const& a, std::vector<type> const& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!differ_only_in_conventions(p, a[i], b[i])) return false;
  return true;
}

} // namespace

bool differ_only_in_conventions(program const& p, type a, type b) {
  if (a == b) return true;
  if (!a.is_function() || !b.is_function()) return false;
  signature const &s = p.signature_of(a), &t = p.signature_of(b);
  return differ_only_in_conventions_each(p, s.parameters, t.parameters) &&
         differ_only_in_conventions_each(p, s.results, t.results);
}

std::size_t inner_differences(program const& p, type a, type b) {
  signature const &s = p.signature_of(a), &t = p.signature_of(b);
  std::size_t count = 0;
  for (std::size_t i = 0; i < s.parameters.size(); ++i) count += s.parameters[i] != t.parameters[i];
  for (std::size_t i = 0; i < s.results.size(); ++i) count += s.results[i] != t.results[i];
  return count;
}

} // namespace overdub::ir
