#include <overdub/implementation/ir/dependents.hpp>
#include <overdub/ir/regions.hpp>

#include <cassert>

namespace overdub::ir {

/// A worklist of values and sizes that depend, and whose uses were not visited.
class dependents::solver {
public:
  solver(dependents& all, function const& f, dependence_rules const& rules)
      : f_(f), rules_(rules), values_(all.values_), sizes_(all.sizes_),
        is_whole_(rules.has_control ? f.node_count() : 0) {}

  void run(sources const& from) {
    for (value_id const v : from.values) mark(v);
    for (value_id const v : from.sizes) mark_size(v);
    while (!open_.empty()) {
      auto const [v, is_size] = open_.back();
      open_.pop_back();
      for (use_id const u : f_.uses_of(v)) {
        node_id const n = f_[u].user;
        std::uint32_t const i = index_of(u) - f_[n].first_operand;
        if (is_size)
          follow_size(n, i);
        else
          follow(n, i);
      }
    }
  }

private:
  struct fact {
    value_id v;
    bool is_size;
  };

  void mark(value_id v) {
    if (values_[index_of(v)] || !rules_.carries(f_.type_of(v))) return;
    values_[index_of(v)] = true;
    open_.push_back({v, false});
    if (rules_.has_control) mark_whole(f_[f_.region_of(v)].parent);
  }
  void mark_size(value_id v) {
    if (sizes_.empty() || sizes_[index_of(v)] || f_.type_of(v).rank == 0) return;
    sizes_[index_of(v)] = true;
    open_.push_back({v, true});
  }
  void mark_results(node_id n) {
    for (value_id const v : f_.results_of(n)) mark(v);
  }
  void mark_sizes_of_results(node_id n) {
    for (value_id const v : f_.results_of(n)) mark_size(v);
  }
  void mark_arguments(node_id n) {
    std::uint32_t const first = region_flow(f_, n).leading_arguments();
    for (region_id const r : f_.regions_of(n))
      for (std::uint32_t k = first; k < f_.arguments_of(r).size(); ++k) mark(f_.argument(r, k));
  }
  // An operation with regions, and those that contain it.
  void mark_whole(node_id n) {
    for (; n != nothing && !is_whole_[index_of(n)]; n = owner_of(f_, n)) {
      is_whole_[index_of(n)] = true;
      mark_arguments(n);
      mark_results(n);
      if (is_conditional_loop(f_[n].code)) mark_sizes_of_results(n);
    }
  }

  // Propagates from operand `i` of an operation, which depends.
  void follow(node_id n, std::uint32_t i) {
    op const code = f_[n].code;
    if (!rules_.passes(n) || (code == op::length && rules_.has_sizes)) return;
    bool const is_count = i == 0 && (is_counted(code) || selects_region(code) || code == op::fill);
    if (is_count || code == op::iota || code == op::slice) mark_sizes_of_results(n);
    if (rules_.has_control)
      follow_control(n);
    else
      follow_data(n, i);
  }
  void follow_control(node_id n) {
    if (f_[n].region_count == 0) mark_results(n);
    mark_whole(f_[n].region_count == 0 ? owner_of(f_, n) : n);
  }
  void follow_data(node_id n, std::uint32_t i) {
    node_id const owner = owner_of(f_, n);
    op const code = f_[n].code;
    if (code == op::add_to) {
      value_id const accumulator = f_.operand(n, 0);
      mark(accumulator);
      mark(f_.result(owner_of(f_, accumulator), f_[accumulator].index));
    } else if (
        code == op::reduce || (code == op::yield && owner != nothing && f_[owner].code == op::reduce)) {
      node_id const reduction = code == op::reduce ? n : owner;
      mark_results(reduction);
      mark_arguments(reduction);
    } else if (code == op::yield || f_[n].region_count > 0) {
      for_each_destination(f_, n, i, [&](value_id v) { mark(v); });
    } else {
      mark_results(n);
    }
  }
  // Propagates from operand `i`, an array whose size depends.
  void follow_size(node_id n, std::uint32_t i) {
    if (f_[n].code == op::reduce) {
      mark_results(n);
      mark_arguments(n);
    } else if (f_[n].code == op::yield || f_[n].region_count > 0) {
      for_each_destination(f_, n, i, [&](value_id v) { mark_size(v); });
    } else {
      if (!has_same_elements(f_[n].code)) mark_results(n);
      mark_sizes_of_results(n);
    }
  }
  // Whether the size of an operand determines that of the result at most: each element depends on elements and indices alone.
  static bool has_same_elements(op code) {
    switch (code) {
    case op::array:
    case op::at:
    case op::slice:
    case op::update:
    case op::gather:
    case op::copy:
    case op::select:
      return true;
    default:
      return false;
    }
  }

  function const& f_;
  dependence_rules const& rules_;
  std::vector<bool>&values_, &sizes_;
  std::vector<bool> is_whole_; // by operation
  std::vector<fact> open_;
};

dependents::dependents(function const& f, sources const& from, dependence_rules const& rules)
    : values_(f.value_count()), sizes_(rules.has_sizes ? f.value_count() : 0) {
  assert(rules.has_control || !rules.has_sizes); // else the trip count of a `while` would not reach sizes
  solver(*this, f, rules).run(from);
}

} // namespace overdub::ir
