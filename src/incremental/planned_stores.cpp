#include <overdub/implementation/incremental/planned_stores.hpp>
#include <overdub/implementation/incremental/update_code.hpp>
#include <overdub/implementation/incremental/update_program_text.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace overdub::increments {

std::vector<planned_store> plan_stores(layout const& saved, std::vector<computed_value> const& computed) {
  std::vector<planned_store> all;
  for (computed_value const& c : computed) {
    bool const is_tree = c.what == variable::role::tree;
    std::uint32_t const number = is_tree ? saved.tree_of(c.of) : saved.of(c.of);
    if (number == layout::none) continue;
    all.push_back({number, c.path, c.value, c.valid, c.does, c.region});
    // A write that replaces a sum, instead of adding to it, sets its compensation to 0.
    std::uint32_t const errors = saved.compensation_of(c.of);
    if (!is_tree && c.does != store::action::add && errors != layout::none)
      all.push_back({errors, c.path, ir::nothing, c.valid, c.does, c.region});
  }
  return all;
}

std::string text_of(
    std::vector<planned_store> const& all, layout const& saved, function const& draft, region_id outermost,
    update_program_text const& names) {
  std::string text;
  for (planned_store const& s : all) {
    text += names.of(s.does, saved[s.variable], s.path.size(), false);
    if (s.valid != ir::nothing) text += ", on a condition";
    for (auto const around : ir::enclosing_regions(draft, s.region)) {
      if (around.region == outermost) break;
      text.append(", in ").append(ir::name_of(draft[around.owner].code));
    }
    text += "\n";
  }
  return text;
}

} // namespace overdub::increments
