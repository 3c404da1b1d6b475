#include <overdub/models/trace_structure.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

trace_structure::trace_structure(model_core const& m, choice_map const& observed, std::size_t maximum_indices)
    : order_(m), number_(m.sites().size(), none) {
  reject_unsupported(m, observed);
  for (std::uint32_t s = 0; s < m.sites().size(); ++s) {
    if (!m.sites()[s].is_conditional) continue;
    if (m.sites()[s].index_count > maximum_indices) reject_indices(m, s);
    number_[s] = static_cast<std::uint32_t>(conditional_.size());
    conditional_.push_back(s);
  }
}

trace_structure::trace_structure(trace_structure const& other) = default;
trace_structure::trace_structure(trace_structure&& other) noexcept = default;
trace_structure& trace_structure::operator=(trace_structure const& other) = default;
trace_structure& trace_structure::operator=(trace_structure&& other) noexcept = default;
trace_structure::~trace_structure() = default;

bool trace_structure::appears(choice_index const& c) const {
  return std::ranges::binary_search(appeared_, c);
}
void trace_structure::add_vanished(choice_index const& c) { vanished_.push_back(c); }
void trace_structure::add_appeared(choice_index const& c) { appeared_.push_back(c); }
void trace_structure::find_to_draw() {
  sort(appeared_), sort(vanished_), sort(set_);
  is_same_ = appeared_.empty() && vanished_.empty();
  to_draw_.clear();
  for (choice_index const& c : appeared_)
    if (!std::ranges::binary_search(set_, c) &&
        !std::ranges::binary_search(set_, choice_index{c.site, choice_index::all}))
      to_draw_.push_back(c);
}

void trace_structure::reject_indices(model_core const& m, std::uint32_t s) {
  throw model_error(message(
      "overdub: the choice \"%s\" is nested in %u maps and loops, and a choice is updated alone in up to "
      "%zu; "
      "change all of the site, or run the whole model",
      m.sites()[s].address.c_str(), m.sites()[s].index_count, incremental_program::max_indices));
}

void trace_structure::set(choice_index const& c) {
  if (is_conditional(c.site)) set_.push_back(c);
  if (!drawn_.empty()) set_after_draw_.push_back(c);
}

void trace_structure::was_drawn(choice_index const& c, double log_density) {
  if (is_conditional(c.site)) set_.push_back(c);
  drop_overwritten_draws();
  drawn_.push_back({c, log_density});
}

void trace_structure::discard_draws() {
  drop_overwritten_draws();
  std::vector<choice_index> drawn;
  for (drawn_choice const& d : drawn_) drawn.push_back(d.at);
  sort(drawn);
  std::erase_if(set_, [&](choice_index const& c) { return std::ranges::binary_search(drawn, c); });
  drawn_.clear();
}

double trace_structure::drawn_density() {
  drop_overwritten_draws();
  double sum = 0;
  for (drawn_choice const& d : drawn_)
    if (!is_conditional(d.at.site) || appears(d.at)) sum += d.log_density;
  return sum;
}

bool trace_structure::precedes_drawn(choice_index const& c, std::vector<std::vector<i64>> const& shapes) {
  drop_overwritten_draws();
  std::vector<i64> at, other;
  indices_of(shapes[c.site], c.number, at);
  return std::ranges::any_of(drawn_, [&](drawn_choice const& d) {
    indices_of(shapes[d.at.site], d.at.number, other);
    return order_.is_before(c.site, at, d.at.site, other);
  });
}

std::vector<choice_index> trace_structure::first_to_draw(std::vector<std::vector<i64>> const& shapes) const {
  std::vector<choice_index> first;
  std::vector<i64> at, other;
  for (choice_index const& c : to_draw_) {
    indices_of(shapes[c.site], c.number, at);
    if (!first.empty()) {
      indices_of(shapes[first[0].site], first[0].number, other);
      if (order_.is_before(first[0].site, other, c.site, at)) continue;
      if (order_.is_before(c.site, at, first[0].site, other)) first.clear();
    }
    first.push_back(c);
  }
  return first;
}

void trace_structure::clear() {
  appeared_.clear(), to_draw_.clear(), vanished_.clear(), set_.clear(), drawn_.clear(),
      set_after_draw_.clear();
  is_same_ = true;
}

void trace_structure::reject_unsupported(model_core const& m, choice_map const& observed) {
  for (site const& s : m.sites())
    if (s.has_random_count)
      throw model_error(message(
          "overdub: how many choices \"%s\" are made depends on other choices, so that moves of these "
          "would make them appear or vanish; change such traces by update and regenerate",
          s.address.c_str()));
  for (site const& s : m.sites()) {
    if (s.varies_in_size && !observed.contains(address(s.address, {})))
      throw model_error(message(
          "overdub: the choice \"%s\" is an array in a branch, so that moves of other choices may make it "
          "appear or vanish; change such traces by update and regenerate",
          s.address.c_str()));
    if (!s.is_conditional) continue;
    if (s.is_resized)
      throw model_error(message(
          "overdub: the choice \"%s\" is nested in a map or a loop in a branch, so that moves of other "
          "choices "
          "may make all of them appear or vanish; write the branch in the map, or change such traces by "
          "update and regenerate",
          s.address.c_str()));
    if (s.nodes.size() > 1)
      throw model_error(message(
          "overdub: the choice \"%s\" has one address in two branches, and in a third it is not made, so "
          "that its distribution is not known where it appears; give each branch an address of its own",
          s.address.c_str()));
  }
}

void trace_structure::drop_overwritten_draws() {
  if (set_after_draw_.empty()) return;
  sort(set_after_draw_);
  std::erase_if(drawn_, [&](drawn_choice const& d) {
    return std::ranges::binary_search(set_after_draw_, d.at) ||
           std::ranges::binary_search(set_after_draw_, choice_index{d.at.site, choice_index::all});
  });
  set_after_draw_.clear();
}

void trace_structure::sort(std::vector<choice_index>& all) {
  std::ranges::sort(all);
  auto const behind = std::ranges::unique(all);
  all.erase(behind.begin(), behind.end());
}

} // namespace overdub::models
