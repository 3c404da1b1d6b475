// The first step of passes that rewrite functions: takes a function out of the program, and puts an empty one in its place.
#pragma once

#include <overdub/pass/ir_names.hpp>

#include <span>
#include <utility>
#include <vector>

namespace overdub::pass::detail {

/// Replaces f by a function with these parameters, an empty body, and otherwise the same properties. Returns f.
inline function replace_by_empty(program& p, function_id f, std::span<type const> parameters) {
  function empty(p[f].name, parameters);
  empty.reserve(p[f]);
  empty.results = p[f].results;
  empty.structure = p[f].structure;
  empty.place = p[f].place;
  empty.derivative = p[f].derivative;
  empty.origin_in_cpp = p[f].origin_in_cpp;
  empty.origin_name = p[f].origin_name;
  return std::exchange(p[f], std::move(empty));
}
/// Replaces f by a function with the same parameters, whose names are lost.
inline function replace_by_empty(program& p, function_id f) {
  std::vector<type> parameters;
  for (value_id const v : p[f].parameters()) parameters.push_back(p[f].type_of(v));
  return replace_by_empty(p, f, parameters);
}

} // namespace overdub::pass::detail
