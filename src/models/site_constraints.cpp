#include <overdub/models/site_constraints.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

namespace overdub::models::detail {

site_constraints::site_constraints(model_core const& m, choice_map const& all)
    : m_(m), first_(m.sites().size() + 1), whole_(m.sites().size()) {
  for (auto const& [at, x] : all) {
    std::uint32_t const s = m.site_at(at.site);
    site const& of = m.sites()[s];
    if (at.indices.size() > of.index_count)
      throw model_error(message(
          "overdub: %.80s was given a value, and \"%s\" has %u %s", text_of(at).c_str(), of.address.c_str(),
          of.index_count, of.index_count == 1 ? "index" : "indices"));
    ir::type wanted = of.type;
    for (std::size_t k = at.indices.size(); k < of.index_count; ++k) wanted = wanted.array_of();
    all_.push_back({s, at.indices, typed_value(at, x, wanted)});
    if (at.indices.empty()) whole_[s] = all_.back().value;
  }
  std::ranges::sort(all_, {}, [](given_choice const& c) { return std::tie(c.site, c.indices); });
  for (given_choice const& c : all_) ++first_[c.site + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

datum site_constraints::find(std::uint32_t s, std::span<i64 const> indices) const {
  if (!has(s)) return {};
  std::span const of_site = std::span(all_).subspan(first_[s], first_[s + 1] - first_[s]);
  auto const precedes = [](given_choice const& c, std::span<i64 const> at) {
    return std::ranges::lexicographical_compare(c.indices, at);
  };
  for (std::size_t n = indices.size();; --n) {
    auto const above = indices.first(n);
    auto const found = std::lower_bound(of_site.begin(), of_site.end(), above, precedes);
    if (found != of_site.end() && std::ranges::equal(found->indices, above))
      return part_if_inside(found->value, indices.subspan(n));
    if (n == 0) return {};
  }
}

void site_constraints::check_all_made(trace const& t) const {
  for (given_choice const& c : all_) {
    site const& of = m_.sites()[c.site];
    check_size(m_, c, t.shape(c.site));
    if (c.indices.size() == of.index_count && !t.is_made(c.site, c.indices))
      throw_unmade(m_, address(of.address, c.indices));
  }
}

void site_constraints::throw_unmade(model_core const& m, address const& at) {
  throw unmade_error(message(
      "overdub: %.80s was given a value, and the model @%s did not sample it: it is nested in a branch that "
      "was not taken",
      text_of(at).c_str(), m.name().c_str()));
}

void site_constraints::check_size(model_core const& m, given_choice const& c, std::span<i64 const> made) {
  for (std::size_t k = 0; k < made.size(); ++k) {
    bool const is_index = k < c.indices.size();
    i64 const given = is_index ? c.indices[k] : c.value.shape()[k - c.indices.size()];
    if (is_index ? given < 0 || given >= made[k] : given != made[k])
      throw_size(address(m.sites()[c.site].address, c.indices), is_index, given, made[k]);
  }
}

void site_constraints::throw_size(address const& at, bool is_index, i64 given, i64 made) {
  if (is_index)
    throw model_error(message(
        "overdub: %.80s was given a value, and the model makes %lld choices along this index",
        text_of(at).c_str(), static_cast<long long>(made)));
  throw model_error(message(
      "overdub: %.80s was given %lld values, and the model makes %lld choices", text_of(at).c_str(),
      static_cast<long long>(given), static_cast<long long>(made)));
}

choice_schema tracing(model_core const& m, role r) {
  choice_schema s = m.all_in(r);
  s.score = choice_schema::scores::by_origin;
  s.results = s.values = s.presence = true;
  return s;
}

std::vector<datum>
log_densities(model_core const& m, std::span<datum const> arguments, std::span<datum const> values) {
  choice_schema s = m.all_in(role::given);
  s.score = choice_schema::scores::none;
  s.densities = true;
  return m.run(s, arguments, values).densities;
}

} // namespace overdub::models::detail
