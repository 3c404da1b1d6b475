// Reverse-mode differentiation of a function body: visits the operations from last to first, and appends their adjoints to
// it. Each adjoint adds a contribution to the cotangent of each operand.
#pragma once

#include <overdub/ir/builder.hpp>
#include <overdub/reverse/gradient_program.hpp>
#include <overdub/reverse/linear.hpp>
#include <overdub/reverse/primal_copy.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace overdub::adjoint {

/// The adjoint of a call. `backward` takes the caller's `arguments` of these indices, then the results (if
/// `takes_results`), the residuals and the cotangents.
struct call_gradient {
  // Returns the results of the callee, then the residuals; nothing: there are no residuals.
  function_id forward = ir::nothing;
  // If this is nothing, the residual is a function value, which is applied to the cotangents.
  function_id backward = ir::nothing;
  std::vector<std::uint32_t> arguments;
  bool takes_results = false;
  std::vector<ir::type> saved;
};
/// Generates gradients of callees; each once for a request.
using gradient_of_call = std::function<call_gradient(function_id callee, gradient_request const&)>;

class writer {
public:
  using values = std::vector<value_id>;

  writer(
      ir::program& p, function_id of, function_id f, activity& known, callee_properties const& callees,
      checkpointing const& limits, gradient_of_call of_callee)
      : p_(p), of_(of), at_(p, f, function::body), activity_(known), sums_(at_, known), callees_(callees),
        checkpointing_(limits), of_callee_(std::move(of_callee)) {}

  cotangents& sums() { return sums_; }
  /// Erases what became unused. Dead-code elimination would keep operations that may fail.
  void drop_unused() {
    for (node_id const n : unused_)
      if (!f().is_erased(n) && !f().is_used(f().result(n))) at_.erase(n);
  }
  ir::cursor& at() { return at_; }
  /// Appends the adjoints of consecutive operations.
  void reverse(std::vector<node_id> const& nodes) {
    for (std::size_t i = nodes.size(); i-- > 0;) back(nodes[i]);
  }

private:
  function const& f() const { return *at_; }
  ir::builder build() { return ir::builder(at_); }
  ir::region_flow flow(node_id n) const { return {f(), n}; }

  void back(node_id n);
  void elementwise(node_id n, value_id cotangent);
  // ---- data (writer_data.hpp)
  bool data(node_id n, value_id cotangent);
  values indices_of(node_id n) const;
  void row(node_id n);
  void array(node_id n, value_id cotangent);
  void slice(node_id n, value_id cotangent);
  void gather(node_id n, value_id cotangent);
  void concat(node_id n, value_id cotangent);
  void update(node_id n, value_id cotangent);
  void fill(node_id n, value_id cotangent);
  void select_arrays(node_id n, value_id cotangent);
  template <class Write>
  void scatter(value_id array, Write const& write);
  value_id sum_of(value_id numbers);
  // ---- control (writer_control.hpp)
  void if_(node_id n, values const& cotangents);
  void loop(node_id n, values const& cotangents);
  ir::attributes opposite_of(node_id n) const;
  void map(node_id n, values const& cotangents);
  void reduce(node_id n, values const& cotangents); // (writer_reduce.hpp)
  void sum(node_id n, value_id cotangent);
  void extreme(node_id n, value_id cotangent);
  struct pairs {
    value_id left, right; // the numbers of the two nodes that each step combines
  };
  pairs tree_of(value_id size, value_id steps);
  values combined(node_id n, values const& left, values const& right);
  value_id varying(value_id v, bool does) {
    activity_.set(v, does);
    return v;
  }
  void accumulate(node_id n, values const& cotangents);
  void add_to(node_id n);
  void once(node_id n, values const& cotangents, std::uint32_t first);
  void call(node_id n, values const& cotangents);
  values call_with_residuals(node_id n, call_gradient const& g);
  values captured(node_id n) const;
  bool is_read_at_index(node_id n, value_id array) const;
  std::vector<std::uint8_t> useful_states(node_id n, values const& cotangents) const;
  template <class Write>
  values in_accumulators(values const& arrays, Write const& write);
  // ---- branches by their partial derivatives (writer_partials.hpp)
  struct branch_partials {
    values partials; // one for each input; nothing: the branch does not depend on it
    bool selects = false;
  };
  ir::value_set recurrent_in(primal_copy const& r) const;
  bool uses_partials(node_id n) const;
  void partials(node_id n, values const& cotangents);
  values numbers_captured(node_id n, ir::type t) const;
  branch_partials write_partials(region_id r, std::uint32_t result, values const& inputs);
  node_id with_more_results(node_id n, values const (&more)[2]);
  // ---- checkpoints of loop-carried values (writer_checkpoint.hpp)
  struct checkpoints {
    value_id trip_count = ir::nothing;
    bool is_reversed = false;
    node_id loop = ir::nothing;
    value_id used = ir::nothing;       // the number of slots in use
    value_id iterations = ir::nothing; // an array: the iteration whose state each slot holds
    values states;                     // arrays with one element for each slot
  };
  bool is_checkpointed(node_id n) const;
  bool has_length_of(value_id made, value_id other) const;
  checkpoints first_checkpoint(node_id n, values const& initial);
  values restore(checkpoints& c, value_id index);
  value_id slots_for(value_id trip_count, values const& states, std::int64_t fewer);
  value_id bytes_of(value_id v);
  value_id distance(value_id iterations, value_id slots);
  std::size_t sweep(primal_copy const& r);
  // ---- blocks of iterations (writer_blocks.hpp)
  // An estimate of the size of a block's residuals, in states.
  static constexpr std::int64_t states_of_block = 3;
  bool replaces_elements(node_id n) const;
  value_id at_index(node_id n, value_id number, value_id index_value, int steps);
  value_id inner_trip_count(node_id n);
  node_id in_blocks(node_id n);
  // ---- notes (writer_notes.hpp)
  void note_partials(node_id n, std::size_t count);
  std::string described(primal_copy const& r, value_id v) const;
  void note_residuals(
      function::node const& of, bool in_each_iteration, std::vector<std::string> const& saved,
      std::size_t operations, std::vector<std::string> const& restored = {});
  // ---- residuals (writer_residuals.hpp)
  primal_copy copy(region_id r, clone_map& map);
  primal_copy copy_iteration(node_id n, value_id iteration, values const& carried);
  void find_factors(primal_copy& r);
  node_id save_residuals(node_id first, node_id second, std::vector<primal_copy>& primal_copies);
  std::optional<std::uint32_t> result_that_is(node_id first, primal_copy const& r, value_id v) const;
  struct shifted_value { // a loop-carried value
    value_id value, next, initial;
  };
  value_id previous_state(shifted_value const& s, value_id stored, node_id second, bool is_reversed);
  struct stored_value {
    value_id array; // or the residual itself, outside of loops and maps
    // Of ragged residuals: where those of each iteration begin, and how many they are.
    value_id start = ir::nothing, length = ir::nothing;
  };
  struct rebuilt {
    values in_place; // the replacements of the first operation's results
    std::vector<stored_value> besides;
    value_id trip_count = ir::nothing; // the trip count of a while
  };
  values append(value_id all, value_id used, value_id more);
  rebuilt
  rebuild(node_id first, std::vector<primal_copy> const& primal_copies, std::vector<values> const& saved);
  value_id placeholder_of(ir::type t);
  bool has_signature(function_id of, ir::signature const& s) const;
  node_id without_arguments(node_id second, primal_copy const& r);
  // ---- arrays that are updated in place (writer_restore.hpp)
  struct restored_version {
    value_id of; // a version of an array, a result of a loop or a branch
    // The version that the loop or the branch started from, which its adjoint restored.
    value_id before = ir::nothing;
  };
  node_id outermost_in(region_id r, node_id n) const;
  std::vector<std::uint32_t> positions_in_adjoint(primal_copy const& r) const;
  std::vector<ir::use_id>
  uses_in_adjoint(primal_copy const& r, value_id v, std::vector<std::uint32_t> const& positions) const;
  value_id
  restored_before(value_id version, primal_copy const& r, std::vector<std::uint32_t> const& positions) const;
  std::optional<std::vector<node_id>> places_to_restore(primal_copy const& r, values const& versions) const;
  value_id restore_versions(primal_copy& r, values const& versions, value_id newest);
  value_id undo(node_id n, std::uint32_t result, value_id next, values const& older);
  value_id undo_loop(node_id n, std::uint32_t carried, value_id next, values const& older);
  value_id undo_branch(node_id n, std::uint32_t result, value_id next, values const& older);
  void substitute_restored(primal_copy const& r);
  values versions_of(primal_copy const& r, std::uint32_t yielded) const;
  void restore_arrays(node_id first, primal_copy& r);
  void find_versions(primal_copy& r);
  std::vector<std::uint32_t>
  restore_in_branches(node_id n, std::vector<primal_copy>& primal_copies, values (&oldest)[2]);
  void replace_restored_version(value_id from, value_id to) {
    for (restored_version& known : restored_)
      if (known.of == from) known.of = to;
  }

  values cotangents_of(node_id n);
  values results_of(node_id n) const {
    auto const all = f().results_of(n);
    return {all.begin(), all.end()};
  }
  bool adds(node_id n) const;
  ir::type type_of(value_id v) const { return f().type_of(v); }
  value_id insert(op code, values const& operands, ir::type result) {
    return f().result(at_.insert(code, operands, std::span<ir::type const>(&result, 1)));
  }
  value_id index(std::int64_t i) { return at_.literal(i); }
  [[noreturn]] void refuse(node_id n, std::string const& why) const;

  ir::program& p_;
  function_id of_; // the function that is differentiated
  ir::cursor at_;
  activity& activity_;
  cotangents sums_;
  callee_properties const& callees_;
  checkpointing checkpointing_;
  gradient_of_call of_callee_;
  ir::value_set recurrent_;     // what an iteration of the innermost loop computes from loop-carried values
  bool in_partials_ = false;    // the adjoint that is written belongs to a branch's forward pass
  std::vector<node_id> unused_; // candidates for drop_unused
  std::vector<restored_version> restored_;
  value_map<value_id> accumulated_; // accumulators of the primal code: the cotangents of their arrays
};

} // namespace overdub::adjoint
