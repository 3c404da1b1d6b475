// Operations that are recomputed in full: copies that also return the saved values in their regions.
#pragma once

#include <overdub/implementation/incremental/update_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::increments {

/// The new value of a saved value in an operation that is recomputed in full, and the condition that it exists.
struct saved_value {
  value_id of, new_value;
  value_id valid = ir::nothing;
};

std::vector<value_id> emit_in_full(update_writer& w, node_id n);
value_map captured_values(update_writer& w, node_id n);
void copy_region(update_writer& w, region_id r, value_map& here, std::vector<saved_value>& inside);
value_id mapped(update_writer& w, value_map const& here, value_id v);

// Parts of these.
value_map values_of(update_writer& w, node_id n);
node_id copy_operation(update_writer& w, node_id n, value_map& here, std::vector<saved_value>& saved_inside);
node_id copy_branch(update_writer& w, node_id n, value_map& here, std::vector<saved_value>& saved_inside);
bool saves_inside(update_writer& w, node_id n);

/// Emits the operation with the new values of its operands. Saved values in its regions are stored; its results are not.
inline std::vector<value_id> emit_in_full(update_writer& w, node_id n) {
  // Values of the regions that are saved later require a restart.
  for (region_id const r : w.original().regions_of(n))
    ir::walk(w.original(), r, [&](node_id m) {
      for (value_id const v : w.original().results_of(m)) w.known.set_visited(v);
      for (region_id const inner : w.original().regions_of(m))
        for (value_id const v : w.original().arguments_of(inner)) w.known.set_visited(v);
    });
  value_map here = values_of(w, n);
  std::vector<saved_value> inside;
  node_id const made = copy_operation(w, n, here, inside);
  std::vector<value_id> new_values;
  for (std::uint32_t i = 0; i < w.original()[n].result_count; ++i)
    new_values.push_back(w.written().result(made, i));
  auto const outer = w.code.path(static_cast<std::uint32_t>(w.code.iterations.size()));
  for (saved_value const& k : inside) {
    w.code.stores.push_back({w.code.saved.of(k.of), outer, k.new_value, k.valid});
    if (std::uint32_t const errors = w.code.saved.compensation_of(k.of); errors != layout::none)
      w.code.stores.push_back({errors, outer, ir::nothing, k.valid});
  }
  return new_values;
}

/// The new values of an operation's operands and captured values.
inline value_map values_of(update_writer& w, node_id n) {
  value_map all = captured_values(w, n);
  for (std::uint32_t k = 0; k < w.original()[n].operand_count; ++k) {
    value_id const v = w.original().operand(n, k);
    all.insert_or_assign(v, w.known.new_value(v));
  }
  return all;
}

/// The new values that its regions capture.
inline value_map captured_values(update_writer& w, node_id n) {
  value_map all;
  if (w.original()[n].region_count != 0)
    for (value_id const v : w.known.captured(n)) all.insert_or_assign(v, w.known.new_value(v));
  return all;
}

/// Copies an operation. The copy also returns the saved values in its regions: of a map or a loop, those of all iterations.
inline node_id
copy_operation(update_writer& w, node_id n, value_map& here, std::vector<saved_value>& saved_inside) {
  if (!saves_inside(w, n)) return w.code.cursor.clone(w.code.source, n, here);
  if (selects_region(w.original()[n].code)) return copy_branch(w, n, here, saved_inside);
  values operands;
  for (value_id const v : w.original().operands_of(n)) operands.push_back(mapped(w, here, v));
  ir::builder to = w.code.build();
  node_id const made = to.open_like(w.original(), n, operands);
  region_id const from = w.code.flow_of(n).body();
  std::vector<saved_value> inside;
  to.in_region(made, 0, [&] {
    for (std::uint32_t k = 0; k < w.original()[from].argument_count; ++k) {
      value_id const v = w.original().argument(from, k),
                     now = w.written().argument(w.code.cursor.region(), k);
      here.insert_or_assign(v, now);
      if (w.code.saved.of(v) != layout::none) inside.push_back({v, now});
    }
    copy_region(w, from, here, inside);
    values yielded;
    for (value_id const v : w.original().operands_of(w.original().yield_of(from)))
      yielded.push_back(mapped(w, here, v));
    for (saved_value const& k : inside) yielded.push_back(k.new_value);
    return yielded;
  });
  to.close(made);
  for (std::size_t i = 0; i < inside.size(); ++i)
    saved_inside.push_back(
        {inside[i].of,
         w.written().result(made, w.original()[n].result_count + static_cast<std::uint32_t>(i))});
  return made;
}

/// Copies a branch. The saved values of a side exist only if it is taken.
inline node_id
copy_branch(update_writer& w, node_id n, value_map& here, std::vector<saved_value>& saved_inside) {
  value_id const condition = mapped(w, here, w.original().operand(n, 0));
  ir::builder to = w.code.build();
  node_id const made = to.open_like(w.original(), n, {condition});
  region_id const outside = w.code.cursor.region();
  std::vector<saved_value> inside[2];
  values yielded[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    region_id const from = w.original().region_at(n, i);
    w.code.cursor.to_end(w.written().region_at(made, i));
    copy_region(w, from, here, inside[i]);
    for (value_id const v : w.original().operands_of(w.original().yield_of(from)))
      yielded[i].push_back(mapped(w, here, v));
  }
  for (std::uint32_t i = 0; i < 2; ++i) // each side yields zeros for the saved values of the other one
    for (saved_value& k : inside[i]) {
      auto const yield_value = [&](value_id v) {
        yielded[i].push_back(v);
        w.code.cursor.to_end(w.written().region_at(made, 1 - i));
        yielded[1 - i].push_back(ir::zero_value(w.code.cursor, w.code.type_of(v)));
      };
      yield_value(k.new_value);
      if (k.valid != ir::nothing) yield_value(k.valid);
    }
  w.code.cursor.to_end(outside);
  for (std::uint32_t i = 0; i < 2; ++i) to.in_region(made, i, [&] { return yielded[i]; });
  to.close(made);
  std::uint32_t next = w.original()[n].result_count;
  for (std::uint32_t i = 0; i < 2; ++i) {
    value_id const taken = inside[i].empty() || i == 0 ? condition : w.code.add(op::logical_not, condition);
    for (saved_value& k : inside[i]) {
      value_id const now = w.written().result(made, next++);
      value_id const valid = k.valid == ir::nothing ? taken : w.written().result(made, next++);
      saved_inside.push_back({k.of, now, valid});
    }
  }
  return made;
}

/// Copies the operations of a region but for its terminator.
inline void copy_region(update_writer& w, region_id r, value_map& here, std::vector<saved_value>& inside) {
  for (node_id m = w.original()[r].first; m != w.original()[r].last; m = w.original()[m].next) {
    node_id const copied = copy_operation(w, m, here, inside);
    for (std::uint32_t i = 0; i < w.original()[m].result_count; ++i) {
      value_id const v = w.original().result(m, i);
      here.insert_or_assign(v, w.written().result(copied, i));
      if (w.code.saved.of(v) != layout::none) inside.push_back({v, w.written().result(copied, i)});
    }
  }
}

inline value_id mapped(update_writer& w, value_map const& here, value_id v) {
  return w.original().is_literal(v) ? w.code.literal(w.original().type_of(v), w.original().bits_of(v))
                                    : here.at(v);
}

/// Whether values in the regions of an operation are saved.
inline bool saves_inside(update_writer& w, node_id n) {
  op const code = w.original()[n].code;
  if (!is_counted(code) && !selects_region(code)) return false;
  for (std::uint32_t k = 0; k < w.code.saved.size(); ++k)
    for (region_id const r : w.original().regions_of(n))
      if (w.code.saved[k].what == variable::role::saved &&
          ir::is_defined_in(w.original(), w.code.saved[k].of, r))
        return true;
  return false;
}

} // namespace overdub::increments
