#include "updates.hpp"

#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

namespace demo {
namespace {

namespace ir = overdub::ir;
namespace increments = overdub::increments;
using od::i64;

// The operations of a program's body that depend on its inputs, in groups, which are the nodes of a graph. Each map, loop and
// reduction is its own group; scalar operations are grouped by the set of maps, loops and reductions that use their results, directly
// or not, so that the graph has no cycles.
class groups {
public:
  explicit groups(ir::function const& f) : f_(f), uses_(f.node_count()), group_(f.node_count(), nowhere) {
    std::vector<ir::node_id> nodes;
    for (ir::node_id const n : f.nodes_of(ir::function::body)) {
      bool depends = false;
      for_each_operand(
          n, [&](ir::value_id v) { depends = depends || !f_.is_result(v) || of(f_.node_of(v)) != nowhere; });
      if (!depends || n == f.yield_of(ir::function::body)) continue;
      group_[index_of(n)] = 0;
      nodes.push_back(n);
    }
    std::map<std::set<std::uint32_t>, std::size_t> scalar;
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) { // users first
      auto& own = uses_[index_of(*n)];
      for (ir::node_id const user : users_of(*n)) {
        if (is_alone(user))
          own.insert(index_of(user));
        else
          own.insert(uses_[index_of(user)].begin(), uses_[index_of(user)].end());
      }
      std::size_t g = members_.size();
      if (!is_alone(*n)) g = scalar.emplace(own, g).first->second;
      if (g == members_.size()) members_.emplace_back();
      group_[index_of(*n)] = g;
      members_[g].push_back(*n);
    }
  }

  static constexpr std::size_t nowhere = ~std::size_t{0};
  std::size_t size() const { return members_.size(); }
  std::vector<ir::node_id> const& operator[](std::size_t g) const { return members_[g]; }
  /// The group of an operation, which may be nested in others; nowhere if it does not depend on inputs.
  std::size_t of(ir::node_id n) const { return group_[index_of(outermost(n))]; }
  bool is_alone(ir::node_id n) const {
    return f_[n].code == ir::op::reduce || (f_[n].region_count > 0 && f_[n].code != ir::op::if_);
  }
  /// The label of a group, from the choices that it reads, which are the inputs from `first` on.
  std::string label(std::size_t g, std::vector<std::string> const& inputs, std::size_t first) const {
    ir::node_id const n = members_[g].front();
    if (!is_alone(n)) {
      if (uses_[index_of(n)].empty()) return "log density";
      return members_[g].size() == 1 ? std::string(ir::name_of(f_[n].code))
                                     : std::to_string(members_[g].size()) + " operations";
    }
    if (f_[n].code == ir::op::reduce) return f_[n].attributes.operation == ir::op::add ? "sum" : "reduction";
    std::string read;
    std::set<std::uint32_t> seen;
    for_each_operand(n, [&](ir::value_id v) {
      if (f_.is_result(v) || f_.type_of(v).rank == 0) return;
      auto const input = parameter(v);
      if (input && *input >= first && seen.insert(*input).second)
        read += (read.empty() ? " of " : ", ") + inputs[*input];
    });
    return std::string(ir::name_of(f_[n].code)) + read;
  }
  /// Calls use(v) for each argument of the function, and for each result of an operation of its body, that an operation or its regions
  /// use, except for arrays of which only the length is used.
  template <class F>
  void for_each_operand(ir::node_id n, F const& use) const {
    auto const each = [&](ir::node_id at) {
      if (f_[at].code == ir::op::length) return;
      for (ir::value_id const v : f_.operands_of(at)) {
        bool const is_outside =
            f_.is_result(v) ? f_[f_.node_of(v)].parent == ir::function::body : parameter(v).has_value();
        if (is_outside) use(v);
      }
    };
    each(n);
    for (ir::region_id const r : f_.regions_of(n)) ir::walk(f_, r, each);
  }
  std::optional<std::uint32_t> parameter(ir::value_id v) const {
    for (std::uint32_t k = 0; k < f_.parameters().size(); ++k)
      if (f_.argument(ir::function::body, k) == v) return k;
    return {};
  }

private:
  ir::node_id outermost(ir::node_id n) const {
    while (f_[n].parent != ir::function::body) n = f_[f_[n].parent].parent;
    return n;
  }
  std::vector<ir::node_id> users_of(ir::node_id n) const {
    std::vector<ir::node_id> all;
    for (ir::value_id const v : f_.results_of(n))
      for (ir::use_id const u : f_.uses_of(v))
        if (ir::node_id const user = outermost(f_[u].user); group_[index_of(user)] != nowhere)
          all.push_back(user);
    return all;
  }

  ir::function const& f_;
  std::vector<std::set<std::uint32_t>> uses_; // by operation: the maps, loops and reductions that use it
  std::vector<std::size_t> group_;            // by operation
  std::vector<std::vector<ir::node_id>> members_;
};

std::string_view text_of(increments::step::extent e) {
  using enum increments::step::extent;
  switch (e) {
  case one_iteration:
    return ": one iteration";
  case some_iterations:
    return ": some iterations";
  case difference:
    return ": a difference";
  case from_the_first_affected:
    return ": a part";
  case whole:
    return ": all";
  default:
    return "";
  }
}

// Changes a choice a little; a discrete one becomes the other of two values.
template <class Trace>
void propose(Trace& t, std::uint32_t site, std::vector<i64> const& at) {
  std::uint64_t const now = t.bits(site, at);
  bool const is_discrete = t.core().sites()[site].is_discrete();
  t.set_bits(
      site, at, is_discrete ? 1 - now : std::bit_cast<std::uint64_t>(1.001 * std::bit_cast<double>(now)));
  (void)t.propose();
}

// The microseconds of a proposal, measured over at least 10 milliseconds.
template <class Trace>
double time_of(Trace& t, std::uint32_t site) {
  std::vector<i64> at;
  for (std::size_t rounds = 16;; rounds *= 4) {
    auto const [done, seconds] = timed([&] {
      for (std::size_t k = 0; k < rounds; ++k) {
        t.indices_of(site, k % t.size(site), at);
        propose(t, site, at);
        t.rollback();
      }
      return rounds;
    });
    if (seconds > 0.01) return 1e6 * seconds / static_cast<double>(done);
  }
}

} // namespace

report::graph
dependence(models::model_core const& m, std::vector<std::string> const& arguments, update const& u) {
  auto const slices = m.update_programs();
  ir::function const& f = slices->function();
  std::vector<std::string> inputs = arguments;
  for (models::site const& s : m.sites()) inputs.push_back(s.address);
  std::size_t const moved = arguments.size() + m.site_at(u.site);
  increments::change_signature changes(inputs.size());
  auto const indices = static_cast<std::uint8_t>(m.sites()[m.site_at(u.site)].index_count);
  changes[moved] = indices == 0 ? increments::input_change{.whole = true}
                                : increments::input_change{.elements = 1, .indices = indices};

  groups const all(f);
  std::map<std::size_t, std::string_view> ran;
  for (increments::step const& s : slices->for_changes(changes)->program.steps)
    if (std::size_t const g = all.of(s.node); g != groups::nowhere) {
      std::string_view& how = ran[g];
      if (f[s.node].parent == ir::function::body && all.is_alone(s.node)) how = text_of(s.ran);
    }

  report::graph to{.title = "When " + u.name};
  std::set<std::pair<std::string, std::string>> edges;
  std::set<std::uint32_t> read;
  for (std::size_t g = 0; g < all.size(); ++g) {
    auto const found = ran.find(g);
    std::string const id = std::string("group ") + std::to_string(g);
    to.nodes.push_back({id, all.label(g, inputs, arguments.size()), found != ran.end()});
    if (found != ran.end()) to.nodes.back().label += found->second;
    for (ir::node_id const n : all[g])
      all.for_each_operand(n, [&](ir::value_id v) {
        if (!f.is_result(v)) {
          read.insert(*all.parameter(v));
          edges.emplace(inputs[*all.parameter(v)], id);
        } else if (std::size_t const from = all.of(f.node_of(v)); from != groups::nowhere && from != g) {
          edges.emplace(std::string("group ") + std::to_string(from), id);
        }
      });
  }
  for (std::uint32_t const k : read) to.nodes.push_back({inputs[k], inputs[k], k == moved});
  for (auto const& [from, there] : edges) to.edges.push_back({from, there});
  return to;
}

report::listing explained(models::trace const& t, update const& u) {
  models::followed_trace followed(t);
  std::uint32_t const site = t.core().site_at(u.site);
  std::vector<i64> const at(t.core().sites()[site].index_count, 0);
  propose(followed, site, at);
  return {
      .title = "What ran when " + u.name, .text = followed.program().explain(), .width = report::share::half};
}

report::bars times(models::trace const& t, std::vector<update> const& all) {
  report::bars to{
      .title = "Time of one proposal", .unit = "µs", .ways = {"the whole model", "what the change affects"}};
  models::reexecuted_trace whole(t);
  models::followed_trace followed(t);
  for (update const& u : all) {
    std::uint32_t const site = t.core().site_at(u.site);
    to.rows.push_back({u.name, {time_of(whole, site), time_of(followed, site)}});
  }
  return to;
}

report::bars comparison::bars() const {
  return {
      .title = std::to_string(transitions) + " transitions",
      .unit = "s",
      .ways = {"the whole model", "what the change affects"},
      .rows = {{"all moves", {seconds_of_all, seconds}}},
      .note = "Programs were made before, in " + report::number(seconds_of_making, 2) + " s."};
}

void comparison::print() const {
  std::printf(
      "  the whole model for each move: %.2f s; what the move affects: %.2f s, %.1f times less\n"
      "  the draws are %s\n",
      seconds_of_all, seconds, seconds_of_all / seconds, same ? "the same, to the last bit" : "DIFFERENT");
}

void count_programs(std::string const& name, models::model_core const& m, page& to) {
  auto const slices = m.update_programs();
  to.programs.rows.push_back(
      {name, std::to_string(m.programs() + slices->made()), std::to_string(slices->made()),
       std::to_string(slices->count())});
}

} // namespace demo
