#include <overdub/implementation/ir/ancestor.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/pass/interchange.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace overdub::pass {

namespace {

// The number of elements of a block, whose loop-carried values fit into the L1 cache.
constexpr std::int64_t block = 64;
constexpr std::int64_t block_bits = 6;

/// The analysis of one map: how its body is split at its loops (loop fission).
class split_plan {
public:
  /// O(operations × depth).
  split_plan(program const& p, effects const& known, function_id id, node_id map);

  bool fits() const { return fits_; }
  region_id body() const { return body_; }
  value_id index() const { return f_.argument(body_, 0); }
  /// Whether a value is defined in the body, or in a nested region.
  bool is_inside(value_id v) const { return ir::is_defined_in(f_, v, body_); }
  /// Whether it is uniform over the elements: a number, or a row's length.
  bool is_uniform(value_id v) const {
    return !is_inside(v) || (shared_values_.contains(v) && !rows_.contains(v));
  }
  bool is_row(value_id v) const { return rows_.contains(v); }

  std::vector<node_id> rematerialised; // rematerialised wherever they are needed: rows, and uniform values
  std::vector<std::vector<node_id>> parts; // the operations between loops, for each element
  std::vector<node_id> loops;

private:
  bool is_shared(node_id n) const;
  bool is_split(node_id n) const;
  // Values that cross from one part or loop to another must be scalars: rows might differ in length.
  bool crossings_fit() const;

public:
  /// The ancestor of an operation, or itself, in the body.
  bool is_used_outside(value_id v, std::vector<node_id> const& part) const;

private:
  function const& f_;
  region_id body_;
  std::set<value_id> shared_values_, rows_;
  bool fits_ = false;
};

/// Splits one map by its plan.
class splitting {
public:
  splitting(program& p, function_id id, node_id map, split_plan const& plan)
      : id_(id), map_(map), plan_(plan), c_(p, id) {}

  void run();

private:
  using values = std::vector<value_id>;
  using copy_map = std::map<value_id, value_id>;

  value_id literal(std::int64_t x) { return c_.literal(x); }
  ir::builder build() { return ir::builder(c_); }
  ir::region_flow flow(node_id n) const { return {*c_, n}; }

  // Splits into blocks, the last of which repeats the last element; joins the blocks again.
  values in_blocks(value_id count);

  // Arrays of the values that the elements of one block yield.
  values elements();
  // Computes one part; values that others need become arrays.
  void part(std::vector<node_id> const& nodes);
  void loop(node_id n);
  value_id same_for_all(value_id v) const;

  // A map over a block that runs operations, and returns the wanted values of them and of earlier parts.
  values map_of(std::vector<node_id> const& nodes, values const& wanted, copy_map const& known);

  function_id id_;
  node_id map_;
  split_plan const& plan_;
  ir::cursor c_;
  value_id size_ = ir::nothing;  // the number of elements of a block
  value_id first_ = ir::nothing; // the index of its first element
  value_id last_ = ir::nothing;  // the index of the last element of all
  copy_map uniform_;             // uniform values, before the maps
  copy_map arrays_;              // arrays of varying numbers, in blocks
};

split_plan::split_plan(program const& p, effects const& known, function_id id, node_id map)
    : f_(p[id]), body_(f_.region_at(map, 0)) {
  if (!known.of(f_, map).can_merge()) return;
  parts.emplace_back();
  for (node_id const n : f_.nodes_of(body_)) {
    if (f_[n].code == op::yield) break;
    if (is_shared(n)) {
      rematerialised.push_back(n);
      shared_values_.insert(f_.result(n));
      if (f_.type_of(f_.result(n)).rank > 0) rows_.insert(f_.result(n));
    } else if (is_split(n)) {
      loops.push_back(n);
      parts.emplace_back();
    } else
      parts.back().push_back(n);
  }
  fits_ = !loops.empty() && crossings_fit();
}

bool split_plan::is_shared(node_id n) const {
  op const c = f_[n].code;
  if (f_[n].result_count != 1) return false;
  if (c == op::at && f_.type_of(f_.result(n)).rank > 0) { // an array from outside, whose length is uniform
    value_id const array = f_.operand(n, 0);
    if (is_inside(array) && !rows_.contains(array)) return false;
    for (std::uint32_t i = 1; i < f_[n].operand_count; ++i)
      if (f_.operand(n, i) != index() && !is_uniform(f_.operand(n, i))) return false;
    return true;
  }
  if (c == op::length) return f_[n].operand_count == 1 && rows_.contains(f_.operand(n, 0));
  if (!ir::is_elementwise(c) || ir::row_of(c).effects != effect::pure) return false;
  for (value_id const v : f_.operands_of(n))
    if (!is_uniform(v)) return false;
  return true;
}

bool split_plan::is_split(node_id n) const {
  ir::region_flow const flow(f_, n);
  if (!ir::is_counted_loop(f_[n].code) || !is_uniform(f_.operand(n, 0))) return false;
  if (flow.carried() == 0 || f_[n].result_count != flow.carried()) return false;
  for (value_id const v : f_.results_of(n))
    if (!f_.type_of(v).is_literal()) return false;
  bool is_plain = true; // scalar computations, and reads of elements
  ir::walk(f_, flow.body(), [&](node_id m) {
    op const c = f_[m].code;
    is_plain = is_plain && (ir::is_elementwise(c) || c == op::convert || c == op::at || c == op::length ||
                            ir::selects_region(c) || ir::is_counted_loop(c) || c == op::yield);
    for (value_id const v : f_.results_of(m))
      is_plain = is_plain && (f_.type_of(v).is_literal() || f_.type_of(v).is_array());
  });
  return is_plain;
}

bool split_plan::crossings_fit() const {
  for (value_id const v : f_.operands_of(f_.yield_of(body_)))
    if (!f_.type_of(v).is_literal()) return false;
  for (auto const& part : parts)
    for (node_id const n : part)
      for (value_id const v : f_.results_of(n))
        if (!f_.type_of(v).is_literal() && is_used_outside(v, part)) return false;
  return true;
}

bool split_plan::is_used_outside(value_id v, std::vector<node_id> const& part) const {
  for (ir::use_id const u : f_.uses_of(v)) {
    node_id const user = ir::ancestor_in(f_, f_[u].user, body_);
    bool found = false;
    for (node_id const n : part) found = found || n == user;
    if (!found) return true;
  }
  return false;
}

void splitting::run() {
  c_.to_before(map_);
  c_.set_place((*c_)[map_].place);
  value_id const count = c_->operand(map_, 0);
  std::vector<value_id> results;
  if (c_->is_literal(count) && c_->bits_of(count) - 1 < static_cast<std::uint64_t>(block)) {
    size_ = count;
    first_ = c_.literal(std::int64_t{0});
    results = elements();
  } else
    results = in_blocks(count);
  c_.replace(map_, results);
}

splitting::values splitting::in_blocks(value_id count) {
  size_ = literal(block);
  last_ = c_.add(op::sub, count, literal(1));
  value_id const blocks =
      c_.add(op::shift_right, c_.add(op::add, count, literal(block - 1)), literal(block_bits));
  auto const all = build().map(blocks, [&](value_id b) {
    first_ = c_.add(op::shift_left, b, literal(block_bits));
    return elements();
  });
  auto const flat = build().map(count, [&](value_id i) {
    value_id const b = c_.add(op::shift_right, i, literal(block_bits)),
                   j = c_.add(op::bit_and, i, literal(block - 1));
    values read;
    for (value_id const v : all.results) read.push_back(c_.add(op::at, v, b, j));
    return read;
  });
  return flat.results;
}

splitting::values splitting::elements() {
  uniform_ = {{plan_.index(), first_}};
  for (node_id const n : plan_.rematerialised)
    c_.clone(id_, n, uniform_); // uniform values of rows, from the first element
  for (std::size_t k = 0; k < plan_.loops.size(); ++k) {
    part(plan_.parts[k]);
    loop(plan_.loops[k]);
  }
  values yielded;
  for (value_id const v : c_->operands_of(c_->yield_of(plan_.body()))) yielded.push_back(v);
  values known;
  for (value_id const v : yielded)
    if (auto const at = arrays_.find(v); at != arrays_.end()) known.push_back(at->second);
  if (plan_.parts.back().empty() && known.size() == yielded.size()) return known;
  return map_of(plan_.parts.back(), yielded, {});
}

void splitting::part(std::vector<node_id> const& nodes) {
  values needed;
  for (node_id const n : nodes)
    for (value_id const v : c_->results_of(n))
      if (plan_.is_used_outside(v, nodes)) needed.push_back(v);
  if (needed.empty() && nodes.empty()) return;
  values const made = map_of(nodes, needed, {});
  for (std::size_t i = 0; i < needed.size(); ++i) arrays_[needed[i]] = made[i];
}

void splitting::loop(node_id n) {
  value_id const trip_count = same_for_all(c_->operand(n, 0));
  values initial;
  for (std::uint32_t i = 0; i < flow(n).carried(); ++i) {
    value_id const v = flow(n).initial(i);
    if (auto const known = arrays_.find(v); known != arrays_.end())
      initial.push_back(known->second);
    else if (plan_.is_uniform(v))
      initial.push_back(c_.add(op::fill, size_, same_for_all(v)));
    else // the index
      initial.push_back(map_of({}, {v}, {})[0]);
  }
  auto const write_body = [&](value_id iteration, values const& carried) {
    for (std::uint32_t i = 0; i < carried.size(); ++i) arrays_[flow(n).argument(i)] = carried[i];
    std::vector<node_id> nodes;
    for (node_id const m : c_->nodes_of(flow(n).body())) nodes.push_back(m);
    nodes.pop_back();
    values next;
    for (std::uint32_t i = 0; i < carried.size(); ++i) next.push_back(flow(n).next(i));
    return map_of(nodes, next, {{c_->argument(flow(n).body(), 0), iteration}});
  };
  auto const all = build().loop(trip_count, initial, write_body, (*c_)[n].attributes);
  for (std::uint32_t i = 0; i < flow(n).carried(); ++i) arrays_[flow(n).final(i)] = all.results[i];
}

value_id splitting::same_for_all(value_id v) const {
  auto const known = uniform_.find(v);
  return known == uniform_.end() ? v : known->second;
}

splitting::values
splitting::map_of(std::vector<node_id> const& nodes, values const& wanted, copy_map const& known) {
  std::set<value_id> used(wanted.begin(), wanted.end());
  for (node_id const n : nodes) {
    for (value_id const v : c_->operands_of(n)) used.insert(v);
    for (region_id const r : c_->regions_of(n))
      ir::walk(*c_, r, [&](node_id m) {
        for (value_id const v : c_->operands_of(m)) used.insert(v);
      });
  }
  auto const made = build().map(size_, [&](value_id j) {
    copy_map all = known;
    value_id i = first_ == literal(0) ? j : c_.add(op::add, first_, j);
    if (last_ != ir::nothing) i = c_.add(op::min, i, last_);
    all[plan_.index()] = i;
    for (node_id const m : plan_.rematerialised) {
      value_id const v = c_->result(m);
      if (plan_.is_row(v))
        c_.clone(id_, m, all);
      else
        all[v] = uniform_.at(v);
    }
    for (auto const& [v, array] : arrays_)
      if (used.contains(v)) all[v] = c_.add(op::at, array, j);
    for (node_id const m : nodes) c_.clone(id_, m, all);
    values yielded;
    for (value_id const v : wanted) yielded.push_back(all.contains(v) ? all.at(v) : v);
    return yielded;
  });
  return made.results;
}

} // namespace

std::size_t interchange(program& p) {
  std::size_t changed = 0;
  effects const known(p);
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    function_id const id{i};
    if (p.is_erased(id)) continue;
    for (bool again = true; again;) {
      again = false;
      std::vector<node_id> maps;
      ir::walk(p[id], function::body, [&](node_id n) {
        if (ir::is_map(p[id][n].code)) maps.push_back(n);
      });
      for (node_id const n : maps) {
        split_plan const plan(p, known, id, n);
        if (!plan.fits()) continue;
        splitting(p, id, n, plan).run();
        ++changed;
        again = true;
        break;
      }
    }
  }
  return changed;
}

} // namespace overdub::pass
