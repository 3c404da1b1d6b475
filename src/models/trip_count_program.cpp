#include <overdub/ir/cursor.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/models/trip_count_program.hpp>
#include <overdub/pass/pipeline.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace overdub::models {
namespace detail {

/// Writes the program: copies the scalar operations on which trip counts depend.
class trip_count_writer {
public:
  trip_count_writer(ir::program& p, model_program const& m)
      : p_(p), m_(m), f_(m.function()), made_(add_function()), at_(p, made_, ir::function::body) {
    for (std::uint32_t k = 0; k < f_.parameters().size(); ++k)
      known_.emplace(f_.parameters()[k], at_->argument(ir::function::body, k));
  }

  void run() {
    std::vector<ir::value_id> all;
    for (site const& s : m_.sites)
      for (ir::value_id const count : enclosing_trip_counts(s)) {
        ir::value_id const v = count == ir::nothing ? count : number(count);
        all.push_back(v == ir::nothing ? at_.literal(unknown_trip_count) : v);
      }
    at_.yield(all);
    p_[made_].results.assign(all.size(), ir::i64);
    p_.entry = made_;
  }

private:
  ir::function_id add_function() {
    std::vector<ir::type> parameters;
    for (ir::value_id const v : f_.parameters()) parameters.push_back(f_.type_of(v));
    std::string name = std::string(p_.name_of(p_.entry)) + ".trip_counts";
    while (p_.find(name)) name += '\'';
    return p_.add(name, parameters);
  }

  // Outermost first; nothing where the map or loop is nested in a branch.
  std::vector<ir::value_id> enclosing_trip_counts(site const& s) const {
    std::vector<ir::value_id> counts;
    for (auto const around : ir::enclosing_regions(f_, s.nodes[0]))
      if (ir::selects_region(f_[around.owner].code))
        std::ranges::fill(counts, ir::value_id(ir::nothing));
      else
        counts.push_back(ir::region_flow(f_, around.owner).trip_count());
    std::ranges::reverse(counts);
    return counts;
  }

  // A scalar of the model as a value of this program; nothing, where it depends on more than scalars and sizes of arguments.
  ir::value_id number(ir::value_id v) {
    if (f_.is_literal(v)) return at_.literal(f_.type_of(v), f_.bits_of(v));
    if (auto const found = known_.find(v); found != known_.end()) return found->second;
    ir::value_id const made = f_.is_result(v) ? computed(v) : ir::value_id(ir::nothing);
    known_.insert_or_assign(v, made);
    return made;
  }
  ir::value_id computed(ir::value_id v) {
    ir::node_id const n = f_.node_of(v);
    if (f_[n].code == ir::op::length) return length_of(f_.operand(n, 0), 0);
    if (f_[n].region_count > 0 || f_[n].code == ir::op::sample || f_[n].result_count != 1) return ir::nothing;
    std::vector<ir::value_id> operands;
    for (ir::value_id const operand : f_.operands_of(n)) {
      if (f_.type_of(operand).rank > 0 && !is_parameter(operand)) return ir::nothing;
      operands.push_back(number(operand));
      if (operands.back() == ir::nothing) return ir::nothing;
    }
    ir::type const result[] = {f_.type_of(v)};
    return at_->result(at_.insert(f_[n].code, operands, result, f_[n].attributes));
  }
  // The length of an array along an axis.
  ir::value_id length_of(ir::value_id array, std::size_t axis) {
    if (is_parameter(array)) {
      ir::value_id row = known_.find(array)->second;
      for (std::size_t k = 0; k < axis; ++k) row = at_.add(ir::op::at, row, at_.literal(std::int64_t{0}));
      return at_.add(ir::op::length, row);
    }
    if (!f_.is_result(array)) return ir::nothing;
    ir::node_id const n = f_.node_of(array);
    if (f_[n].code == ir::op::at) return length_of(f_.operand(n, 0), axis + f_[n].operand_count - 1);
    ir::region_flow const flow(f_, n); // stacked results are as long as there are iterations
    if (axis == 0 && ir::is_counted(f_[n].code) && flow.is_stacked(f_[array].index))
      return number(flow.trip_count());
    return ir::nothing;
  }
  bool is_parameter(ir::value_id v) const {
    auto const all = f_.parameters();
    return std::ranges::find(all, v) != all.end();
  }

  ir::program& p_;
  model_program const& m_;
  ir::function const& f_; // of m_
  ir::function_id made_;
  ir::cursor at_;
  ir::value_map<ir::value_id> known_; // by value of the model: the value here, or nothing
};

} // namespace detail

ir::program trip_count_program_of(model_program const& m) {
  ir::program p = m.program;
  detail::trip_count_writer(p, m).run();
  pass::default_pipeline(p);
  return p;
}

} // namespace overdub::models
