#include <overdub/implementation/execute/lane_plan.hpp>
#include <overdub/implementation/ir/affine.hpp>
#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/implementation/ir/only_reduction.hpp>
#include <overdub/implementation/ir/operands.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <string_view>

namespace overdub::execute {

/// Fills a plan: first which values vary, to a fixpoint, and then what follows from that.
class lane_plan::analysis {
public:
  explicit analysis(lane_plan& made) : made_(made), f_(*made.f_) {}

  void run() {
    region_id const body = made_.body_;
    made_.varies_[index_of(made_.index())] = true;
    while (look_at(body)) {
    }
    mark(body);
    look_for_adds(body);
    decide_adds();
    made_.strided_[index_of(made_.index())] = true;
    find_strided(body);
    made_.misfit_ = misfit_in(body, false);
  }

private:
  using op = ir::op;
  // How the body adds to an accumulator outside of it.
  struct adding_to {
    value_id accumulator;
    node_id last = ir::nothing;
    std::uint32_t count = 0;
    bool own_elements = true, index_varies = false;
    adds how = adds::at_once;
  };

  bool varies(value_id v) const { return made_.varies(v); }

  // ---- varying values

  bool mark_varying(value_id v) {
    if (varies(v)) return false;
    made_.varies_[index_of(v)] = true;
    return true;
  }
  bool any_operand_varies(node_id n) const {
    for (value_id const v : f_.operands_of(n))
      if (varies(v)) return true;
    return false;
  }
  // Whether an index varies, from the first operand after the array to before `end`.
  bool any_index_varies(node_id n, std::uint32_t end) const {
    for (std::uint32_t i = 1; i < end; ++i)
      if (varies(f_.operand(n, i))) return true;
    return false;
  }
  // Whether an operation is nested in a divergent branch.
  bool is_in_some_lanes(node_id n) const {
    for (auto const& [region, owner] : ir::enclosing_regions(f_, n)) {
      if (region == made_.body_) break;
      if (f_[owner].code == op::if_ && varies(f_.operand(owner, 0))) return true;
    }
    return false;
  }

  bool look_at(region_id r) {
    bool changed = false;
    for (node_id const n : f_.nodes_of(r)) changed = look_at(n) || changed;
    return changed;
  }
  bool look_at(node_id n) {
    bool changed = false;
    for (region_id const r : f_.regions_of(n)) changed = look_at(r) || changed;
    auto const mark_varying_too = [&](value_id v) { changed = mark_varying(v) || changed; };
    op const code = f_[n].code;
    if (code == op::length || (code == op::yield && f_[n].parent == made_.body_)) return changed;
    if (code == op::add_to) {
      value_id const acc = f_.operand(n, 0);
      if (made_.is_outside(acc) || !(any_operand_varies(n) || is_in_some_lanes(n))) return changed;
      mark_varying_too(acc);
      mark_varying_too(f_.result(ir::owner_of(f_, acc), f_[acc].index));
    } else if (code == op::yield || code == op::reduce || f_[n].region_count > 0) {
      for (std::uint32_t i = 0; i < f_[n].operand_count; ++i)
        if (varies(f_.operand(n, i))) ir::for_each_destination(f_, n, i, mark_varying_too);
      if (ir::selects_region(code) && varies(f_.operand(n, 0)))
        for (value_id const v : f_.results_of(n)) mark_varying_too(v);
    } else if (any_operand_varies(n)) {
      for (value_id const v : f_.results_of(n)) mark_varying_too(v);
    }
    return changed;
  }
  bool mark(region_id r) {
    bool any = false;
    for (node_id const n : f_.nodes_of(r)) {
      bool in_lanes = f_[n].code != op::length && any_operand_varies(n);
      for (value_id const v : f_.results_of(n)) in_lanes = in_lanes || varies(v);
      for (region_id const inner : f_.regions_of(n)) in_lanes = mark(inner) || in_lanes;
      if (f_[n].code == op::add_to && made_.is_outside(f_.operand(n, 0))) in_lanes = true;
      made_.in_lanes_[index_of(n)] = in_lanes;
      any = any || in_lanes;
    }
    return any;
  }

  void find_strided(region_id r) {
    for (node_id const n : f_.nodes_of(r)) {
      for (region_id const inner : f_.regions_of(n)) find_strided(inner);
      auto const known = [&](value_id v) -> std::optional<ir::affine> {
        if (!varies(v)) return ir::affine::invariant(v);
        return made_.is_strided(v) ? std::optional(ir::affine::computed()) : std::nullopt;
      };
      for (value_id const v : f_.results_of(n))
        made_.strided_[index_of(v)] = varies(v) && f_.type_of(v) == ir::i64 && ir::affine_of(f_, v, known);
    }
  }

  // ---- what can be vectorised: the first operation of a region that cannot

  node_id misfit_in(region_id r, bool is_masked) const {
    for (value_id const v : f_.arguments_of(r))
      if (f_.type_of(v).is_function()) return f_[r].parent;
    for (node_id const n : f_.nodes_of(r))
      if (node_id const found = misfit_at(n, is_masked); found != ir::nothing) return found;
    return ir::nothing;
  }
  node_id misfit_at(node_id n, bool is_masked) const {
    bool const masks = f_[n].code == op::if_ && varies(f_.operand(n, 0));
    if (!node_fits(n, is_masked)) return n;
    for (region_id const r : f_.regions_of(n))
      if (node_id const found = misfit_in(r, is_masked || masks); found != ir::nothing) return found;
    return ir::nothing;
  }
  bool node_fits(node_id n, bool is_masked) const {
    op const c = f_[n].code;
    for (value_id const v : f_.results_of(n))
      if (f_.type_of(v).element == ir::scalar::function) return false;
    if (ir::is_elementwise(c)) {
      ir::type const t = f_.type_of(f_.result(n));
      if (c == op::select && t.rank > 0) return !is_masked && !made_.is_in_lanes(n);
      return !is_masked || !((c == op::div || c == op::rem) && t == ir::i64);
    }
    // All lanes run both branches of a divergent `if_`: a masked region has only cheap operations that cannot fail, and `add_to`, which
    // skips inactive lanes.
    if (is_masked && c != op::convert && c != op::if_ && c != op::yield && c != op::add_to) return false;
    switch (c) {
    case op::call:
    case op::closure:
    case op::apply:
    case op::reabstract:
    case op::host:
    case op::sample:
    case op::protect:
      return false;
    case op::add_to:
      return add_to_fits(n, is_masked);
    case op::if_:
      return if_fits(n, is_masked);
    default:
      return !made_.is_in_lanes(n) || fits_in_lanes(n);
    }
  }
  bool if_fits(node_id n, bool is_masked) const {
    if (!is_masked && !varies(f_.operand(n, 0))) return true;
    for (value_id const v : f_.results_of(n))
      if (f_.type_of(v).rank > 0) return false;
    return true;
  }
  // A varying accumulator of the body has a copy for each lane, which receives its additions in order. Arrays are not added under a mask,
  // nor at a varying index of such an accumulator.
  bool add_to_fits(node_id n, bool is_masked) const {
    value_id const acc = f_.operand(n, 0);
    std::uint32_t const value = ir::index_count(f_, n) + 1;
    bool const is_part = f_.type_of(f_.operand(n, value)).rank > 0;
    if (is_part && is_masked) return false;
    return made_.is_outside(acc) || !(varies(acc) && any_index_varies(n, value) && is_part);
  }
  bool fits_in_lanes(node_id n) const {
    op const c = f_[n].code;
    std::uint32_t const operands = f_[n].operand_count;
    if (ir::is_counted(c)) return !varies(f_.operand(n, 0));
    switch (c) {
    case op::at:
      return !(
          varies(f_.operand(n, 0)) && any_index_varies(n, operands) && f_.type_of(f_.result(n)).rank > 0);
    case op::slice:
      return !any_index_varies(n, operands);
    case op::update:
      return !any_index_varies(n, operands - 1) || f_.type_of(f_.operand(n, operands - 1)).rank == 0;
    case op::fill:
      return !varies(f_.operand(n, 0));
    case op::gather:
      return !varies(f_.operand(n, 1));
    case op::while_:
      for (std::uint32_t k = operands; k < f_[n].result_count; ++k)
        if (varies(f_.result(n, k))) return false;
      return !varies(f_.operand(f_.yield_of(f_.region_at(n, 0)), 0));
    case op::reduce:
      return f_[n].attributes.operation != op::none && !f_[n].attributes.is_in_order() &&
             f_.type_of(f_.result(n)) != ir::boolean;
    case op::accumulate:
    case op::array:
    case op::length:
    case op::concat:
    case op::copy:
    case op::convert:
    case op::assert_:
    case op::yield:
      return true;
    default:
      return false;
    }
  }

  // ---- accumulators that the lanes share

  void look_for_adds(region_id r) {
    for (node_id const n : f_.nodes_of(r)) {
      for (region_id const inner : f_.regions_of(n)) look_for_adds(inner);
      value_id const acc = f_[n].code == op::add_to ? f_.operand(n, 0) : value_id(ir::nothing);
      if (acc == ir::nothing || !made_.is_outside(acc)) continue;
      auto found =
          std::find_if(all_.begin(), all_.end(), [&](adding_to const& a) { return a.accumulator == acc; });
      if (found == all_.end()) found = all_.insert(found, {.accumulator = acc});
      ++found->count;
      found->last = n;
      found->index_varies = found->index_varies || any_index_varies(n, ir::index_count(f_, n) + 1);
      found->own_elements =
          found->own_elements && f_[n].operand_count > 2 && f_.operand(n, 1) == made_.index();
    }
  }
  void decide_adds() {
    bool defers = false;
    for (adding_to& a : all_) {
      a.how = how_to_add(a);
      defers = defers || a.how != adds::at_once;
    }
    // A block with deferred additions may restart, or run again element by element, which would perform additions at once twice: if one
    // accumulator defers them, all do.
    for (adding_to const& a : all_) made_.adds_.push_back({a.accumulator, defers ? when_it_ends(a) : a.how});
  }
  static adds when_it_ends(adding_to const& a) { return a.index_varies ? adds::by_lane : adds::by_cell; }
  // The order of floating-point additions matters: each number of the accumulator must receive its additions in the order of the
  // iterations. An operation that adds at once adds for all lanes before the next one does. That keeps the order if lanes add to different
  // numbers, by the body's index as first index; if one operation makes all additions, and the index of each enclosing loop is an index of
  // it; and if the numbers are integers.
  adds how_to_add(adding_to const& a) const {
    if (f_.type_of(a.accumulator).element == ir::scalar::i64 || a.own_elements) return adds::at_once;
    if (a.count == 1) {
      bool in_loop = false, indexed = true;
      for (auto const& [r, owner] : ir::enclosing_regions(f_, a.last)) {
        if (r == made_.body_) break;
        op const c = f_[owner].code;
        if (!ir::repeats_regions(c)) continue;
        in_loop = true;
        bool is_index = false;
        for (std::uint32_t i = 1; i + 1 < f_[a.last].operand_count; ++i)
          is_index = is_index || (ir::is_counted(c) && f_.operand(a.last, i) == f_.argument(r, 0));
        indexed = indexed && is_index;
      }
      if (indexed && (a.index_varies || !in_loop)) return adds::at_once;
    }
    return when_it_ends(a);
  }

  lane_plan& made_;
  ir::function const& f_;
  std::vector<adding_to> all_;
};

lane_plan::lane_plan(ir::function const& f, region_id body)
    : f_(&f), body_(body), varies_(f.value_count()), strided_(f.value_count()), in_lanes_(f.node_count()) {
  analysis(*this).run();
}

bool lane_plan::is_outside(value_id v) const { return !ir::is_defined_in(*f_, v, body_); }

bool lane_plan::needs_lanes(value_id v) const {
  for (ir::use_id const u : f_->uses_of(v)) {
    node_id const n = (*f_)[u].user;
    ir::op const code = (*f_)[n].code;
    bool const stores = code == ir::op::update || code == ir::op::add_to;
    bool const is_index = code == ir::op::at || (stores && f_->operand(n, (*f_)[n].operand_count - 1) != v);
    bool const makes_strided = (*f_)[n].result_count == 1 && is_strided(f_->result(n));
    if (!is_index && !makes_strided) return true;
  }
  return false;
}

ir::node_id lane_plan::reduction_of(value_id result) const {
  ir::type const t = f_->type_of(result);
  bool const in_blocks = f_->node_of(result) == (*f_)[body_].parent;
  if (t != ir::f64.array_of() && !(in_blocks && t == ir::i64.array_of())) return ir::nothing;
  if (!in_blocks && !varies(result)) return ir::nothing;
  node_id const reduce = ir::only_reduction(*f_, result);
  bool const is_reduced =
      reduce != ir::nothing && (in_blocks || (*f_)[reduce].attributes.operation == ir::op::add);
  return is_reduced ? reduce : node_id(ir::nothing);
}

ir::node_id lane_plan::summed_product(node_id map) const {
  ir::function const& f = *f_;
  if (f[map].result_count != 1) return ir::nothing;
  node_id const reduce = reduction_of(f.result(map));
  if (reduce == ir::nothing || f[reduce].attributes.operation != ir::op::add) return ir::nothing;
  node_id const last = f.yield_of(f.region_at(map, 0));
  value_id const v = f.operand(last, 0);
  if (!varies(v) || !f.is_result(v) || f.type_of(v) != ir::f64) return ir::nothing;
  node_id const n = f.node_of(v);
  ir::use_id const use = f[v].first_use;
  bool const is_last = f[n].code == ir::op::mul && f[n].next == last && f[use].next == ir::nothing;
  bool const in_blocks = map == f[body_].parent;
  bool const both_vary = varies(f.operand(n, 0)) && varies(f.operand(n, 1));
  return is_last && (both_vary || !in_blocks) ? n : node_id(ir::nothing);
}

lane_plan::adds lane_plan::adding(value_id accumulator) const {
  for (shared_accumulator const& a : adds_)
    if (a.value == accumulator) return a.how;
  return adds::at_once;
}

bool lane_plan::adds_in(region_id r) const {
  bool found = false;
  ir::walk(*f_, r, [&](node_id n) { found = found || (*f_)[n].code == ir::op::add_to; });
  return found;
}

bool lane_plan::defers_in(region_id r) const {
  bool found = false;
  ir::walk(*f_, r, [&](node_id n) {
    found = found || ((*f_)[n].code == ir::op::add_to && adding(f_->operand(n, 0)) != adds::at_once);
  });
  return found;
}

std::string text_of(lane_plan const& plan, ir::program const& p, ir::function const& f) {
  ir::names_of_values const names(p, f);
  std::string text;
  auto const name = [&](ir::node_id n) {
    std::string of;
    for (ir::value_id const v : f.results_of(n)) of.append(v == f.result(n) ? "" : ", ").append(names[v]);
    if (f[n].result_count > 0) of += " = ";
    return of.append(ir::name_of(f[n].code));
  };
  // Those of some values that vary, after a word; nothing, if none does.
  auto const varying = [&](auto const& all) {
    std::string found;
    for (ir::value_id const v : all)
      if (plan.varies(v)) {
        found.append(found.empty() ? "varies " : ", varies ").append(names[v]);
        if (plan.is_strided(v)) found.append(plan.needs_lanes(v) ? " strided and as a vector" : " strided");
      }
    return found;
  };
  // The reductions that are computed with a map or loop.
  auto const fused = [&](ir::node_id n) {
    std::string said;
    if (!ir::is_counted(f[n].code)) return said;
    for (ir::value_id const v : f.results_of(n))
      if (ir::node_id const reduce = plan.reduction_of(v); reduce != ir::nothing)
        said.append(", with ").append(name(reduce));
    if (ir::node_id const product = plan.summed_product(n); product != ir::nothing)
      said.append(" of ").append(name(product));
    return said;
  };
  auto const how = [&](ir::node_id n) -> std::string {
    if (!plan.is_in_lanes(n)) return "once for a block";
    std::string said = "in lanes" + fused(n);
    if (std::string const which = varying(f.results_of(n)); !which.empty()) said.append(", ").append(which);
    if (f[n].code == ir::op::add_to && plan.is_outside(f.operand(n, 0))) {
      constexpr std::string_view when[] = {"at once", "by cell", "by lane"};
      said.append(", adds ").append(when[static_cast<std::size_t>(plan.adding(f.operand(n, 0)))]);
    }
    return said;
  };
  auto const print_region = [&](auto const& self, ir::region_id r, std::string const& indent) -> void {
    if (std::string const which = varying(f.arguments_of(r)); !which.empty())
      text.append(indent).append("entry: ").append(which).append("\n");
    for (ir::node_id const n : f.nodes_of(r)) {
      if (f[n].code == ir::op::yield) continue;
      text.append(indent).append(name(n)).append(": ").append(how(n)).append("\n");
      for (ir::region_id const inner : f.regions_of(n)) self(self, inner, indent + "  ");
    }
  };
  ir::node_id const owner = f[plan.body()].parent;
  text = name(owner) + (plan.fits() ? ": in blocks" + fused(owner) + "\n"
                                    : ": element by element, for " + name(plan.misfit()) + "\n");
  print_region(print_region, plan.body(), "  ");
  return text;
}

} // namespace overdub::execute
