// Operations that are recomputed in full: copies that also return the saved values in their regions.
#pragma once

#include <overdub/implementation/incremental/value_changes.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::increments {

/// Copies operations of the function into the update program.
class recomputation : update_emitter {
public:
  // The new value of a saved value in an operation that is recomputed in full, and the condition that it exists.
  struct saved_value {
    value_id of, new_value;
    value_id valid = ir::nothing;
  };

  recomputation(update_code& code, value_changes& known) : update_emitter(code), known_(known) {}

  std::vector<value_id> emit(node_id n);
  value_map captured_values(node_id n);
  void copy_region(region_id r, value_map& here, std::vector<saved_value>& inside);
  value_id mapped(value_map const& here, value_id v);

private:
  value_map values_of(node_id n);
  node_id copy(node_id n, value_map& here, std::vector<saved_value>& saved_inside);
  node_id copy_branch(node_id n, value_map& here, std::vector<saved_value>& saved_inside);
  bool saves_inside(node_id n);

  value_changes& known_;
};

/// Emits the operation with the new values of its operands. Saved values in its regions are stored; its results are not.
inline std::vector<value_id> recomputation::emit(node_id n) {
  // Values of the regions that are saved later require a restart.
  for (region_id const r : original().regions_of(n))
    ir::walk(original(), r, [&](node_id m) {
      for (value_id const v : original().results_of(m)) known_.set_visited(v);
      for (region_id const inner : original().regions_of(m))
        for (value_id const v : original().arguments_of(inner)) known_.set_visited(v);
    });
  value_map here = values_of(n);
  std::vector<saved_value> inside;
  node_id const made = copy(n, here, inside);
  std::vector<value_id> new_values;
  for (std::uint32_t i = 0; i < original()[n].result_count; ++i)
    new_values.push_back(written().result(made, i));
  auto const outer = path(static_cast<std::uint32_t>(iterations_.size()));
  for (saved_value const& k : inside) {
    stores_.push_back({layout_.of(k.of), outer, k.new_value, k.valid});
    if (std::uint32_t const errors = layout_.compensation_of(k.of); errors != layout::none)
      stores_.push_back({errors, outer, ir::nothing, k.valid});
  }
  return new_values;
}

/// The new values of an operation's operands and captured values.
inline value_map recomputation::values_of(node_id n) {
  value_map all = captured_values(n);
  for (std::uint32_t k = 0; k < original()[n].operand_count; ++k) {
    value_id const v = original().operand(n, k);
    all.insert_or_assign(v, known_.new_value(v));
  }
  return all;
}

/// The new values that its regions capture.
inline value_map recomputation::captured_values(node_id n) {
  value_map all;
  if (original()[n].region_count != 0)
    for (value_id const v : known_.captured(n)) all.insert_or_assign(v, known_.new_value(v));
  return all;
}

/// Copies an operation. The copy also returns the saved values in its regions: of a map or a loop, those of all iterations.
inline node_id recomputation::copy(node_id n, value_map& here, std::vector<saved_value>& saved_inside) {
  if (!saves_inside(n)) return at_.clone(f_, n, here);
  if (selects_region(original()[n].code)) return copy_branch(n, here, saved_inside);
  values operands;
  for (value_id const v : original().operands_of(n)) operands.push_back(mapped(here, v));
  ir::builder to = build();
  node_id const made = to.open_like(original(), n, operands);
  region_id const from = flow_of(n).body();
  std::vector<saved_value> inside;
  to.in_region(made, 0, [&] {
    for (std::uint32_t k = 0; k < original()[from].argument_count; ++k) {
      value_id const v = original().argument(from, k), now = written().argument(at_.region(), k);
      here.insert_or_assign(v, now);
      if (layout_.of(v) != layout::none) inside.push_back({v, now});
    }
    copy_region(from, here, inside);
    values yielded;
    for (value_id const v : original().operands_of(original().yield_of(from)))
      yielded.push_back(mapped(here, v));
    for (saved_value const& k : inside) yielded.push_back(k.new_value);
    return yielded;
  });
  to.close(made);
  for (std::size_t i = 0; i < inside.size(); ++i)
    saved_inside.push_back(
        {inside[i].of, written().result(made, original()[n].result_count + static_cast<std::uint32_t>(i))});
  return made;
}

/// Copies a branch. The saved values of a side exist only if it is taken.
inline node_id
recomputation::copy_branch(node_id n, value_map& here, std::vector<saved_value>& saved_inside) {
  value_id const condition = mapped(here, original().operand(n, 0));
  ir::builder to = build();
  node_id const made = to.open_like(original(), n, {condition});
  region_id const outside = at_.region();
  std::vector<saved_value> inside[2];
  values yielded[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    region_id const from = original().region_at(n, i);
    at_.to_end(written().region_at(made, i));
    copy_region(from, here, inside[i]);
    for (value_id const v : original().operands_of(original().yield_of(from)))
      yielded[i].push_back(mapped(here, v));
  }
  for (std::uint32_t i = 0; i < 2; ++i) // each side yields zeros for the saved values of the other one
    for (saved_value& k : inside[i]) {
      auto const yield_value = [&](value_id v) {
        yielded[i].push_back(v);
        at_.to_end(written().region_at(made, 1 - i));
        yielded[1 - i].push_back(ir::zero_value(at_, type_of(v)));
      };
      yield_value(k.new_value);
      if (k.valid != ir::nothing) yield_value(k.valid);
    }
  at_.to_end(outside);
  for (std::uint32_t i = 0; i < 2; ++i) to.in_region(made, i, [&] { return yielded[i]; });
  to.close(made);
  std::uint32_t next = original()[n].result_count;
  for (std::uint32_t i = 0; i < 2; ++i) {
    value_id const taken = inside[i].empty() || i == 0 ? condition : at_.add(op::logical_not, condition);
    for (saved_value& k : inside[i]) {
      value_id const now = written().result(made, next++);
      value_id const valid = k.valid == ir::nothing ? taken : written().result(made, next++);
      saved_inside.push_back({k.of, now, valid});
    }
  }
  return made;
}

/// Copies the operations of a region but for its terminator.
inline void recomputation::copy_region(region_id r, value_map& here, std::vector<saved_value>& inside) {
  for (node_id m = original()[r].first; m != original()[r].last; m = original()[m].next) {
    node_id const copied = copy(m, here, inside);
    for (std::uint32_t i = 0; i < original()[m].result_count; ++i) {
      value_id const v = original().result(m, i);
      here.insert_or_assign(v, written().result(copied, i));
      if (layout_.of(v) != layout::none) inside.push_back({v, written().result(copied, i)});
    }
  }
}

inline value_id recomputation::mapped(value_map const& here, value_id v) {
  return original().is_literal(v) ? literal(original().type_of(v), original().bits_of(v)) : here.at(v);
}

/// Whether values in the regions of an operation are saved.
inline bool recomputation::saves_inside(node_id n) {
  op const code = original()[n].code;
  if (!is_counted(code) && !selects_region(code)) return false;
  for (std::uint32_t k = 0; k < layout_.size(); ++k)
    for (region_id const r : original().regions_of(n))
      if (layout_[k].what == variable::role::saved && ir::is_defined_in(original(), layout_[k].of, r))
        return true;
  return false;
}

} // namespace overdub::increments
