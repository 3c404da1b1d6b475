#include <overdub/batch/interchange.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace overdub::batching {

split_plan::split_plan(ir::program const& p, ir::effects const& known, ir::function_id id, node_id map)
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

split_plan::node_id split_plan::in_body(node_id n) const {
  while (f_[n].parent != body_) n = f_[f_[n].parent].parent;
  return n;
}

bool split_plan::is_used_outside(value_id v, std::vector<node_id> const& part) const {
  for (ir::use_id const u : f_.uses_of(v)) {
    node_id const user = in_body(f_[u].user);
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

splitting::value_id splitting::same_for_all(value_id v) const {
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

std::size_t interchange(ir::program& p) {
  std::size_t changed = 0;
  ir::effects const known(p);
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    ir::function_id const id{i};
    if (p.is_erased(id)) continue;
    for (bool again = true; again;) {
      again = false;
      std::vector<ir::node_id> maps;
      ir::walk(p[id], ir::function::body, [&](ir::node_id n) {
        if (ir::is_map(p[id][n].code)) maps.push_back(n);
      });
      for (ir::node_id const n : maps) {
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

} // namespace overdub::batching
