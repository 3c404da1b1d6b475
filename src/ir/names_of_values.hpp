// The names of values in a printed function.
#pragma once

#include <overdub/ir/program.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace overdub::ir {

/// The names that `ir::print` gives the values of a function: their own, or numbers in the order of definition. O(values), once.
class names_of_values {
public:
  names_of_values(program const& p, function const& f) : p_(p), f_(f), names_(f.value_count()) {
    name_all(function::body);
  }
  std::string const& operator[](value_id v) const { return names_[index_of(v)]; }

private:
  void name_all(region_id r) {
    for (value_id const v : f_.arguments_of(r)) name(v);
    for (node_id const n : f_.nodes_of(r)) {
      for (value_id const v : f_.results_of(n)) name(v);
      for (region_id const inner : f_.regions_of(n)) name_all(inner);
    }
  }
  void name(value_id v) {
    std::string& text = names_[index_of(v)];
    text.assign(1, '%');
    if (f_[v].name == nothing)
      text += std::to_string(next_++);
    else
      text += p_.text(f_[v].name);
  }

  program const& p_;
  function const& f_;
  std::vector<std::string> names_; // by value
  std::size_t next_ = 0;
};

} // namespace overdub::ir
