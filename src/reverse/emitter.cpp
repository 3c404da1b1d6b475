#include <overdub/implementation/reverse/emitter.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace overdub::adjoint {

// Copies a region with its yield to the cursor, which is at the end of a region.
primal_copy emitter::copy(region_id r, clone_map& map) {
  region_id const in = at_.region();
  node_id const before = f()[in].last;
  std::vector<node_id> originals;
  for (node_id const n : f().nodes_of(r)) originals.push_back(n);
  for (node_id const n : originals) (void)at_.clone(at_.id(), n, map);
  return {r, in, before, f()[in].last};
}

// Copies an iteration of a loop or map; `carried` stand for the loop-carried values.
primal_copy emitter::copy_iteration(node_id n, value_id iteration, values const& carried) {
  clone_map map(activity_);
  bool const counted = ir::is_counted(f()[n].code);
  if (counted) map.insert_or_assign(f().argument(flow(n).body(), 0), iteration);
  for (std::uint32_t i = 0; i < carried.size(); ++i) map.insert_or_assign(flow(n).argument(i), carried[i]);
  primal_copy made = copy(flow(n).body(), map);
  if (counted) made.index = iteration;
  made.arguments = carried;
  return made;
}

// Erases the unused ones of some operations, the last first, whatever their effects: the primal code has these. The pass dce needs the
// complete function (pass/dead_code.hpp); this one is being written. Returns how many remain.
std::size_t emitter::erase_unused(std::vector<node_id> const& nodes) {
  std::size_t left = 0;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (f().is_erased(nodes[i])) continue;
    bool is_used = false;
    for (value_id const v : f().results_of(nodes[i])) is_used = is_used || f().is_used(v);
    if (!is_used) at_.erase(nodes[i]);
    left += is_used;
  }
  return left;
}

// Erases what is unused of a copy, and its end. Returns the number of remaining operations.
std::size_t emitter::sweep(primal_copy const& r) {
  std::vector<node_id> const nodes = r.nodes(f());
  at_.erase(r.end());
  return erase_unused(nodes);
}

// The attributes of a loop in the opposite direction.
ir::attributes emitter::opposite_of(node_id n) const {
  ir::attributes says;
  if (!ir::is_counted(f()[n].code) || !f()[n].attributes.is_reversed()) says.flags = ir::attributes::reversed;
  return says;
}

// Notes, for `explain`, the residuals of an operation, and how many operations its adjoint recomputes.
void emitter::note_residuals(
    function::node const& of, bool in_each_iteration, std::vector<std::string> const& saved,
    std::size_t operations, std::vector<std::string> const& restored) {
  std::string text = std::string(1, '@').append(p_.name_of(of_)) + ": " + std::string(ir::name_of(of.code)) +
                     (saved.empty() ? " saves nothing" : " saves ");
  for (std::size_t i = 0; i < saved.size(); ++i) text.append(i > 0 ? ", " : "").append(saved[i]);
  if (in_each_iteration && !saved.empty()) text += ", in each iteration";
  for (std::string const& array : restored) text.append("; restores ").append(array);
  if (operations > 0)
    text.append("; recomputes ").append(std::to_string(operations)).append(" of its operations");
  p_.notes.push_back({std::move(text), of.place});
}

void emitter::refuse(node_id n, std::string const& why) const {
  std::string const function(p_.name_of(at_.id()));
  ir::place_id const at = f()[n].place;
  std::string where;
  if (at != ir::nothing)
    where = " (" + std::string(p_.text(p_[at].file)) + ":" + std::to_string(p_[at].line) + ")";
  throw differentiation_error(message(
      "overdub: @%s: %s%s: %s", function.c_str(), std::string(name_of(f()[n].code)).c_str(), where.c_str(),
      why.c_str()));
}

} // namespace overdub::adjoint
