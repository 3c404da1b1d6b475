// Function types that differ only in conventions, between which `reabstract` converts; and a search for function values.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/walk.hpp>

#include <cstddef>

namespace overdub::ir {

/// Whether two types are equal, or function types with equal parameters and results up to calling conventions, recursively.
/// Elements of arrays have one convention. O(the types' lengths).
bool differ_only_in_conventions(program const& p, type a, type b);

/// How many parameters and results of two such types are functions with different conventions; 0 if the function types
/// themselves differ in convention only.
std::size_t inner_differences(program const& p, type a, type b);

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
