#include <overdub/models/observed_choices.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::models {

void observed_choices::add(trace const& t, choice_map const& observed) {
  for (auto const& [at, x] : observed) {
    std::uint32_t const s = t.core().site_at(at.site);
    std::span<i64 const> const shape = t.shape(s);
    of_[s].resize(size_of(shape));
    std::size_t below = 1; // the number of choices below the address
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (k >= at.indices.size())
        below *= static_cast<std::size_t>(shape[k]);
      else if (at.indices[k] < 0 || at.indices[k] >= shape[k])
        throw model_error(message(
            "overdub: %.80s is observed, and the model makes %lld choices along this index",
            text_of(at).c_str(), static_cast<long long>(shape[k])));
    std::size_t const first = number_of(shape, at.indices) * below;
    std::fill_n(of_[s].begin() + static_cast<std::ptrdiff_t>(first), below, true);
    reject_unmade(t, s, first, below);
    reject_other_value(t, observed, at, x);
  }
}

void observed_choices::reserve(
    std::vector<std::vector<i64>> const& shapes, std::vector<choice_index> const& coming) {
  for (std::uint32_t s = 0; s < of_.size(); ++s)
    if (has(s)) of_[s].resize(size_of(shapes[s]));
  for (choice_index const& c : coming)
    if (!has(c.site)) of_[c.site].resize(size_of(shapes[c.site]));
}

void observed_choices::release_room(std::vector<std::vector<i64>> const& shapes) {
  for (std::uint32_t s = 0; s < of_.size(); ++s) {
    if (of_[s].size() <= size_of(shapes[s])) continue;
    of_[s].resize(size_of(shapes[s]));
    if (std::ranges::find(of_[s], true) == of_[s].end()) of_[s].clear();
  }
}

void observed_choices::reject_unmade(trace const& t, std::uint32_t s, std::size_t first, std::size_t count) {
  std::vector<i64> at;
  for (std::size_t k = first; k < first + count; ++k) {
    indices_of(t.shape(s), k, at);
    if (!t.is_made(s, at))
      throw model_error(message(
          "overdub: the choice %.80s is observed, and is not made in this trace: observe choices that are, "
          "or what decides on them, too",
          text_of(address(t.core().sites()[s].address, at)).c_str()));
  }
}

void observed_choices::reject_other_value(
    trace const& t, choice_map const& observed, address const& at, datum const& x) {
  site const& of = t.core().sites()[t.core().site_at(at.site)];
  bool const has_parts =
      std::ranges::any_of(observed, [&](auto const& each) { return detail::is_below(each.first, at); });
  if (at.indices.size() < of.index_count && (of.is_conditional || has_parts)) return;
  datum const is = t.find(at);
  if (is && x.shape() == is.shape()) detail::check_equals(at, x, is);
}

} // namespace overdub::models
