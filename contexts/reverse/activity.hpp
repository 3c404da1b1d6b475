// Which values of a function change with some of its parameters.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <vector>

namespace overdub::contexts::adjoint {

using ir::function;
using ir::function_id;
using ir::is_differentiable;
using ir::node_id;
using ir::op;
using ir::region_id;
using ir::value_id;

/// Whether numbers may be inside of values of a type that nothing looks into: objects of the host, and function values.
constexpr bool is_closed(ir::type t) {
  return t.element == ir::scalar::opaque || t.element == ir::scalar::function;
}

/// How a value changes: not at all; as numbers do; or something that does is inside of it.
enum class change : std::uint8_t { none, varies, hides };

/// The values of a function that change with some of its parameters, as far as they have derivatives. What a callee computes is
/// thought to depend on all of its arguments, unless the callee says that it counts as a constant.
class activity {
public:
  /// O(uses of the values that change).
  activity(ir::program const& p, function_id f, std::vector<bool> const& parameters)
      : activity(p[f], parameters, &p) {}
  /// Of a function of which nothing changes yet.
  explicit activity(function const& f) : activity(f, {}, nullptr) {}

  change of(value_id v) const { return index_of(v) < of_.size() ? of_[index_of(v)] : change::none; }
  bool varies(value_id v) const { return of(v) == change::varies; }
  /// Of values that came later.
  void set(value_id v, change how);
  void set(value_id v, bool does) { set(v, does ? change::varies : change::none); }

private:
  activity(function const& f, std::vector<bool> const& parameters, ir::program const* p);

  void mark(value_id v);
  void mark_result(node_id n, std::uint32_t i) { mark(f_->result(n, i)); }
  void mark_argument(node_id n, std::uint32_t region, std::uint32_t i) {
    mark(f_->argument(f_->region_at(n, region), i));
  }
  void mark_results(node_id n) {
    for (value_id const v : f_->results_of(n)) mark(v);
  }
  bool is_constant(function_id callee) const {
    return (*p_)[callee].derivative.how == ir::derivative::by::constant;
  }

  // An operand of an operation changes.
  void follow(node_id n, std::uint32_t i);
  void follow_yield(node_id owner, region_id r, std::uint32_t i);
  void follow_accumulator(value_id v);
  void follow_reduction(node_id n);

  function const* f_;
  ir::program const* p_;   // what is called
  std::vector<change> of_; // by value
  std::vector<value_id> open_;
};

} // namespace overdub::contexts::adjoint

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/reverse/activity.ipp>
#endif
