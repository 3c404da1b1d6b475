// The members of site_choices, for the sources of its traces.
#pragma once

#include <overdub/models/model_core.hpp>
#include <overdub/models/site_choices.hpp>
#include <overdub/models/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace overdub::models {

template <class Trace>
datum site_choices<Trace>::find_one(std::uint32_t s, std::span<i64 const> at) const {
  bool const is_one = at.size() == self().shape(s).size() && is_inside(self().shape(s), at);
  return is_one && self().is_made(s, at) ? self().choice(s, at) : datum();
}

template <class Trace>
datum site_choices<Trace>::find_one(address const& at) const {
  return find_one(self().core().site_at(at.site), at.indices);
}

template <class Trace>
datum site_choices<Trace>::find(address const& at) const {
  std::uint32_t const s = self().core().site_at(at.site);
  if (at.indices.size() >= self().shape(s).size()) return find_one(s, at.indices);
  return is_inside(self().shape(s), at.indices) ? part_of(self().values(s), at.indices) : datum();
}

template <class Trace>
datum site_choices<Trace>::existing(address const& at) const {
  datum x = find(at);
  if (!x) trace::throw_none(self().core(), at, self().shape(self().core().site_at(at.site)));
  return x;
}

template <class Trace>
template <class F>
void site_choices<Trace>::for_each_made(std::uint32_t s, F const& f) const {
  for_each_index(self().shape(s), [&](std::vector<i64> const& at) {
    if (self().is_made(s, at)) f(at);
  });
}

template <class Trace>
void site_choices<Trace>::for_each_choice(
    overdub::detail::function_view<void(address const&, datum const&)> const& f) const {
  for (std::uint32_t s = 0; s < self().core().sites().size(); ++s)
    for_each_made(s, [&](std::vector<i64> const& at) {
      f(address(self().core().sites()[s].address, at), self().choice(s, at));
    });
}

template <class Trace>
choice_map site_choices<Trace>::choices(selection const& of) const {
  model_core const& m = self().core();
  m.check(of);
  choice_map all;
  for (std::uint32_t s = 0; s < m.sites().size(); ++s) {
    site const& each = m.sites()[s];
    int const extent = of.extent(each.address);
    if (extent > 0 && !each.is_conditional)
      all.set(each.address, {}, self().values(s));
    else if (extent >= 0)
      for_each_made(s, [&](std::vector<i64> const& at) {
        if (of.contains(each.address, at)) all.set(each.address, at, self().choice(s, at));
      });
  }
  return all;
}

template <class Trace>
std::size_t site_choices<Trace>::size() const {
  if (self().shared_core() == nullptr) return 0;
  std::size_t count = 0;
  for (std::uint32_t s = 0; s < self().core().sites().size(); ++s)
    if (self().core().sites()[s].is_conditional)
      for_each_made(s, [&](std::vector<i64> const&) { ++count; });
    else
      count += size_of(self().shape(s));
  return count;
}

template <class Trace>
double site_choices<Trace>::project(selection const& of) const {
  self().core().check(of);
  std::vector<datum> const densities = self().log_densities();
  double sum = 0;
  for (std::uint32_t s = 0; s < densities.size(); ++s) {
    std::string const& name = self().core().sites()[s].address;
    if (of.extent(name) >= 0)
      for_each_made(s, [&](std::vector<i64> const& at) {
        if (of.contains(name, at)) sum += part_of(densities[s], at).template as<double>();
      });
  }
  return sum;
}

} // namespace overdub::models
