// Function types that differ only in conventions, between which `reabstract` converts; and a search for function values.
#pragma once

#include <overdub/ir/program.hpp>
#include <overdub/ir/walk.hpp>

#include <cstddef>
#include <vector>

namespace overdub::ir {

inline bool differ_only_in_conventions(program const& p, type a, type b);

namespace detail {

inline bool
differ_only_in_conventions(program const& p, std::vector<type> const& a, std::vector<type> const& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!ir::differ_only_in_conventions(p, a[i], b[i])) return false;
  return true;
}

} // namespace detail

/// Whether two types are equal, or function types with equal parameters and results up to calling conventions, recursively.
/// Elements of arrays have one convention. O(the types' lengths).
inline bool differ_only_in_conventions(program const& p, type a, type b) {
  if (a == b) return true;
  if (!a.is_function() || !b.is_function()) return false;
  signature const &s = p.signature_of(a), &t = p.signature_of(b);
  return detail::differ_only_in_conventions(p, s.parameters, t.parameters) &&
         detail::differ_only_in_conventions(p, s.results, t.results);
}

/// How many parameters and results of two such types are functions with different conventions; 0 if the function types
/// themselves differ in convention only.
inline std::size_t inner_differences(program const& p, type a, type b) {
  signature const &s = p.signature_of(a), &t = p.signature_of(b);
  std::size_t count = 0;
  for (std::size_t i = 0; i < s.parameters.size(); ++i) count += s.parameters[i] != t.parameters[i];
  for (std::size_t i = 0; i < s.results.size(); ++i) count += s.results[i] != t.results[i];
  return count;
}

/// Whether fits(f, v) holds for a function value, or an array of them, v, that is a parameter or a result in f.
/// O(operations).
template <class Fits>
bool any_function_value(function const& f, Fits fits) {
  bool found = false;
  auto const look = [&](auto const& values) {
    for (value_id const v : values) found = found || (f.type_of(v).element == scalar::function && fits(f, v));
  };
  look(f.parameters());
  walk(f, function::body, [&](node_id n) {
    if (found) return;
    look(f.results_of(n));
    for (region_id const r : f.regions_of(n)) look(f.arguments_of(r));
  });
  return found;
}
/// The same for all functions of a program.
template <class Fits>
bool any_function_value(program const& p, Fits fits) {
  for (function const& f : p.functions)
    if (any_function_value(f, fits)) return true;
  return false;
}

} // namespace overdub::ir
