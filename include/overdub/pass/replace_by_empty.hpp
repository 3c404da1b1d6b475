// What passes begin with that write functions anew: the function is taken out, and an empty one put in its place.
#pragma once

#include <overdub/pass/words.hpp>

#include <utility>
#include <vector>

namespace overdub::pass::detail {

/// A function of the same head, whose body is empty, in place of f, which is returned. Names of parameters are lost.
inline function replace_by_empty(program& p, function_id f) {
  std::vector<type> parameters;
  for (value_id const v : p[f].parameters()) parameters.push_back(p[f].type_of(v));
  function empty(p[f].name, parameters);
  empty.reserve(p[f]);
  empty.results = p[f].results;
  empty.structure = p[f].structure;
  empty.place = p[f].place;
  return std::exchange(p[f], std::move(empty));
}

} // namespace overdub::pass::detail
