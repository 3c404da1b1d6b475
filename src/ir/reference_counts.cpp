#include <overdub/implementation/ir/ancestor.hpp>
#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/implementation/ir/reference_counts.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>

namespace overdub::ir {

// One walk in program order. It first schedules the release of each owned reference after the last use of its value. An operation that
// consumes the value there takes over the reference, and the scheduled release is removed. (Ownership inference, as in Perceus, Reinking et
// al., 2021.)
class reference_counts::analysis {
public:
  analysis(reference_counts& to, use_order const& order, counting_rules const& rules)
      : to_(to), f_(*to.f_), order_(order), rules_(rules), borrowed_from_(f_.value_count(), nothing),
        last_use_of_(f_.value_count(), nothing), unique_(f_.value_count()) {}

  void look_at(region_id r) {
    node_id const owner = f_[r].parent;
    // The condition of a while borrows the loop-carried values, because the body uses them after it.
    bool const is_condition =
        owner != nothing && is_conditional_loop(f_[owner].code) && r != region_flow(f_, owner).body();
    for (value_id const v : f_.arguments_of(r)) {
      if (!is_reference_counted(f_.type_of(v))) continue;
      if (owner == nothing) to_.borrowed_[index_of(v)] = !rules_.owners.owns(rules_.of, f_[v].index);
      unique_[index_of(v)] = rules_.in_place != nullptr && rules_.in_place->has(v);
      if (!is_condition) own(v, r, to_.on_entry_[index_of(r)]);
    }
    for (node_id const n : f_.nodes_of(r)) look_at(n);
  }

private:
  void look_at(node_id n) {
    if (row_of(f_[n].code).result == array_result::part)
      part(n);
    else
      consume(n);
    std::vector<value_id> const passed = passed_into_regions(n);
    for (region_id const r : f_.regions_of(n)) {
      for (value_id const v : passed) own(v, r, to_.on_entry_[index_of(r)]);
      look_at(r);
    }
    for (value_id const v : passed) last_use_of_[index_of(v)] = nothing;
    find_unique_results(n);
    share_read_buffers(n);
    for (value_id const v : f_.results_of(n)) own(v, f_[n].parent, to_.after_[index_of(n)]);
  }

  // ---- live ranges

  // Makes a value own a reference in a region. The reference is released after the last use in the region, or with `unused` if there is no
  // use.
  void own(value_id v, region_id r, std::vector<value_id>& unused) {
    if (!is_reference_counted(f_.type_of(v)) || to_.is_borrowed(v)) return;
    node_id const last = last_use_of_[index_of(v)] = order_.last_use_in(v, r);
    (last == nothing ? unused : to_.after_[index_of(last)]).push_back(v);
  }
  // If the operation is the last use of a value, removes the scheduled release, so that the operation receives the reference. Returns
  // whether it is.
  bool transferred(value_id v, node_id n) { return std::erase(to_.after_[index_of(n)], v) > 0; }
  // The values whose last use is in the regions of an operation that runs at most one time each, such as a branch: each of these regions
  // releases or transfers the reference.
  std::vector<value_id> passed_into_regions(node_id n) {
    bool const once = selects_region(f_[n].code) || has_accumulators(f_[n].code);
    std::vector<value_id> passed;
    if (!once || (rules_.is_in_lanes && rules_.is_in_lanes(n))) return passed;
    std::erase_if(to_.after_[index_of(n)], [&](value_id v) {
      bool const is_used = order_.is_used_inside(v, n);
      if (is_used) passed.push_back(v);
      return is_used;
    });
    return passed;
  }

  // ---- operands

  void set(node_id n, std::uint32_t operand, int flags) {
    to_.uses_[f_[n].first_operand + operand] = static_cast<std::uint8_t>(flags);
  }
  void consume(node_id n) {
    std::uint32_t const count = f_[n].operand_count;
    for (std::uint32_t k = 0; k < count; ++k) {
      value_id const v = f_.operand(n, k);
      if (!is_consumed(n, k)) continue;
      if (!is_read_too(v, n) && transferred(v, n))
        set(n, k, transfer);
      else {
        set(n, k, retain);
        if (f_[n].code != op::update) share(v);
      }
    }
    for (std::uint32_t k = 0; k < count; ++k)
      if (to_.transfers(n, k) && unique_[index_of(f_.operand(n, k))]) set(n, k, transfer | unique);
  }
  bool is_consumed(node_id n, std::uint32_t k) const {
    return is_reference_counted(f_.type_of(f_.operand(n, k))) && rules_.owners.consumes(f_, n, k) &&
           !is_copied(f_.operand(n, k), destination(n, k));
  }
  // Whether an operation that consumes a value also reads the value while it runs. A yield reads all operands before it consumes any.
  bool is_read_too(value_id v, node_id n) const {
    if (f_[n].code == op::yield) return false;
    for (std::uint32_t k = 0; k < f_[n].operand_count; ++k)
      if (f_.operand(n, k) == v && !is_consumed(n, k)) return true;
    return order_.is_used_inside(v, n);
  }
  // The result that receives the value of operand k, such as the result of a loop for an initial value; `nothing` if no result does.
  value_id destination(node_id n, std::uint32_t k) const {
    if (f_[n].code == op::yield) {
      node_id const owner = owner_of(f_, n);
      return owner == nothing ? nothing : f_.result(owner, region_flow(f_, owner).first_yielded() + k);
    }
    if (f_[n].region_count > 0)
      return f_.result(n, (k - region_flow(f_, n).leading_operands()) % f_[n].result_count);
    return f_[n].result_count > 0 ? f_.result(n) : value_id(nothing);
  }
  bool is_copied(value_id from, value_id to) const {
    return rules_.varies && to != nothing && rules_.varies(to) && !rules_.varies(from);
  }

  // ---- parts of arrays

  void part(node_id n) {
    value_id const array = f_.operand(n, 0), made = f_.result(n);
    if (!is_reference_counted(f_.type_of(made)) || is_copied(array, made)) return;
    value_id const owner = to_.is_borrowed(array) ? borrowed_from_[index_of(array)] : array;
    if (can_borrow(owner, made, n)) {
      to_.borrowed_[index_of(made)] = true;
      borrowed_from_[index_of(made)] = owner;
    } else if (transferred(array, n)) {
      bool const is_unique = unique_[index_of(made)] = unique_[index_of(array)];
      set(n, 0, is_unique ? transfer | unique : transfer);
    } else {
      set(n, 0, retain);
      share(array);
    }
  }
  // Whether a part of an array, such as a slice, can borrow the array's buffer: the array is released after the last use of the part.
  // `owner`: the value that owns the array's reference; `nothing` if the caller of the function owns it.
  bool can_borrow(value_id owner, value_id made, node_id n) const {
    if (owner == nothing) return true;
    node_id const released_at = last_use_of_[index_of(owner)];
    if (released_at == nothing) return true;
    node_id last = order_.last_use_in(made, f_[n].parent);
    if (last == nothing) return false;
    region_id const r = f_[released_at].parent;
    last = ancestor_in(f_, last, r);
    if (last == nothing) return false;
    if (last != released_at) return order_.is_before(last, released_at);
    return std::ranges::any_of(
        enclosing_regions(f_, n), [&](auto const& each) { return each.owner == released_at; });
  }

  // ---- unique buffers

  void share(value_id v) {
    unique_[index_of(v)] = false;
    if (value_id const owner = borrowed_from_[index_of(v)]; owner != nothing)
      unique_[index_of(owner)] = false;
  }
  // Clears the uniqueness of operands whose buffers a result may share.
  void share_read_buffers(node_id n) {
    if (f_[n].code == op::select)
      for (std::uint32_t k = 1; k <= 2; ++k) share(f_.operand(n, k));
    if (f_[n].code == op::reduce)
      for (std::uint32_t k = 0; k < f_[n].result_count; ++k)
        if (f_.type_of(f_.operand(n, k)).rank > 1) share(f_.operand(n, k));
  }
  void find_unique_results(node_id n);
  bool makes_unique(node_id n, std::uint32_t k) const;
  bool yields_unique(region_id r, std::uint32_t k) const { return to_.is_unique(f_.yield_of(r), k); }

  reference_counts& to_;
  function const& f_;
  use_order const& order_;
  counting_rules const& rules_;
  // For each borrowed value: the value that owns its reference; nothing if the caller does.
  std::vector<value_id> borrowed_from_;
  std::vector<node_id> last_use_of_; // for each owned value, in the region that is visited
  std::vector<bool> unique_;         // for each value: whether its buffer has only one reference
};

void reference_counts::analysis::find_unique_results(node_id n) {
  if (row_of(f_[n].code).result == array_result::part) return;
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k)
    unique_[index_of(f_.result(n, k))] = makes_unique(n, k);
}

bool reference_counts::analysis::makes_unique(node_id n, std::uint32_t k) const {
  region_flow const flow(f_, n);
  if (row_of(f_[n].code).result == array_result::fresh) return true;
  switch (f_[n].code) {
  case op::update: // copies the buffer before it writes, unless the buffer is unique
    return true;
  case op::copy:
    return to_.is_unique(n, 0);
  case op::loop:
    return k >= flow.carried() || (rules_.in_place != nullptr && rules_.in_place->has(flow.argument(k)));
  case op::while_:
    return k >= flow.carried();
  case op::if_:
    return yields_unique(f_.region_at(n, 0), k) && yields_unique(f_.region_at(n, 1), k);
  case op::accumulate:
    return k < flow.first_yielded() || yields_unique(flow.body(), k - flow.first_yielded());
  case op::protect:
    return yields_unique(flow.body(), k);
  default:
    return false;
  }
}

reference_counts::reference_counts(
    function const& f, use_order const& order, counting_rules const& rules, region_id r)
    : f_(&f), uses_(f.use_count()), after_(f.node_count()), on_entry_(f.region_count()),
      borrowed_(f.value_count()) {
  analysis(*this, order, rules).look_at(r);
}

std::string text_of(reference_counts const& counts, program const& p, function const& f) {
  names_of_values const names(p, f);
  std::string text, line;
  auto const add = [&](std::string_view what, value_id v) {
    line += line.empty() ? "" : ", ";
    line.append(what).append(" ").append(names[v]);
  };
  auto const end_line = [&](std::string const& of) {
    if (!line.empty()) text.append(of).append(": ").append(line).append("\n");
    line.clear();
  };
  auto const print_region = [&](auto const& self, region_id r, std::string const& indent) -> void {
    for (value_id const v : f.arguments_of(r))
      if (counts.is_borrowed(v)) add("borrows", v);
    for (value_id const v : counts.released_on_entry(r)) add("releases", v);
    end_line(indent + "entry");
    for (node_id const n : f.nodes_of(r)) {
      std::string of = indent;
      for (value_id const v : f.results_of(n)) of.append(v == f.result(n) ? "" : ", ").append(names[v]);
      if (f[n].result_count > 0) of += " = ";
      of += name_of(f[n].code);
      for (std::uint32_t k = 0; k < f[n].operand_count; ++k) {
        value_id const v = f.operand(n, k);
        if (counts.transfers(n, k)) add(counts.is_unique(n, k) ? "transfers unique" : "transfers", v);
        if (counts.retains(n, k)) add("retains", v);
      }
      for (value_id const v : f.results_of(n))
        if (counts.is_borrowed(v)) add("borrows", f.operand(n, 0));
      for (value_id const v : counts.released_after(n)) add("releases", v);
      if (f[n].region_count > 0 && line.empty()) line = "counts nothing";
      end_line(of);
      for (region_id const inner : f.regions_of(n)) self(self, inner, indent + "  ");
    }
  };
  print_region(print_region, function::body, "");
  return text;
}

} // namespace overdub::ir
