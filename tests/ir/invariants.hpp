// A naive check of the storage of a function, against which the cursor and the verifier are tested: it searches for
// everything, in quadratic time.
#pragma once

#include <overdub/ir/function.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace samples {

class invariants {
public:
  /// The violation; empty if there is none.
  static std::string broken(overdub::ir::function const& f) {
    invariants x(f);
    x.region(overdub::ir::function::body, overdub::ir::nothing);
    x.uses();
    return x.wrong_;
  }

private:
  explicit invariants(overdub::ir::function const& f) : f_(f) {}
  void need(bool holds, char const* what) {
    if (!holds && wrong_.empty()) wrong_ = what;
  }
  void region(overdub::ir::region_id r, overdub::ir::node_id owner) {
    using namespace overdub::ir;
    need(f_[r].parent == owner, "a region names another operation");
    for (value_id const v : f_.arguments_of(r))
      need(f_.region_of(v) == r, "an argument names another region");
    std::vector<node_id> forwards, backwards;
    for (node_id n = f_[r].first; n != nothing; n = f_[n].next) forwards.push_back(n);
    for (node_id n = f_[r].last; n != nothing; n = f_[n].previous) backwards.push_back(n);
    std::reverse(backwards.begin(), backwards.end());
    need(forwards == backwards, "a region reads otherwise from its end");
    for (node_id const n : forwards) {
      need(f_[n].parent == r, "an operation names another region");
      present_.push_back(n);
      for (value_id const v : f_.results_of(n)) need(f_.node_of(v) == n, "a result names another operation");
      for (region_id const inner : f_.regions_of(n)) region(inner, n);
    }
  }
  void uses() {
    using namespace overdub::ir;
    std::vector<std::vector<use_id>> found(f_.value_count());
    for (node_id const n : present_)
      for (std::uint32_t i = 0; i < f_[n].operand_count; ++i)
        found[index_of(f_.operand(n, i))].push_back(use_id{f_[n].first_operand + i});
    for (std::uint32_t v = 0; v < f_.value_count(); ++v) {
      std::vector<use_id> listed;
      for (use_id const u : f_.uses_of(value_id{v})) listed.push_back(u);
      need(
          listed.size() == found[v].size() &&
              std::is_permutation(listed.begin(), listed.end(), found[v].begin()),
          "the uses of a value are not its operands");
    }
    for (std::uint32_t n = 0; n < f_.node_count(); ++n)
      need(
          f_.is_erased(node_id{n}) == (std::count(present_.begin(), present_.end(), node_id{n}) == 0),
          "an operation is neither there nor erased");
  }

  overdub::ir::function const& f_;
  std::vector<overdub::ir::node_id> present_;
  std::string wrong_;
};

} // namespace samples
