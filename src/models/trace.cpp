#include <overdub/models/trace.hpp>

namespace overdub::models {

bool trace::is_made(std::uint32_t s, std::span<i64 const> indices) const {
  datum::extents const& shape = values_[s].shape();
  for (std::size_t k = 0; k < indices.size(); ++k)
    if (indices[k] < 0 || indices[k] >= shape[k]) return false;
  if (!core_->sites()[s].is_conditional) return true;
  return part_of(presence_[s], indices).as<bool>();
}

datum trace::find(address const& at) const {
  std::uint32_t const s = core().site_at(at.site);
  site const& of = core_->sites()[s];
  if (at.indices.size() > of.index_count) return {};
  if (at.indices.size() == of.index_count)
    return is_made(s, at.indices) ? part_of(values_[s], at.indices) : datum();
  for (std::size_t k = 0; k < at.indices.size(); ++k)
    if (at.indices[k] < 0 || at.indices[k] >= values_[s].shape()[k]) return {};
  return part_of(values_[s], at.indices);
}

datum trace::existing(address const& at) const {
  datum x = find(at);
  if (!x) {
    std::uint32_t const s = core_->site_at(at.site);
    throw_none(*core_, at, {values_[s].shape().data(), core_->sites()[s].index_count});
  }
  return x;
}

void trace::throw_no_run() {
  throw model_error(message(
      "overdub: this trace is of no run: it was made by trace(), or moved from; simulate or generate one"));
}

void trace::throw_none(model_core const& of, address const& at, std::span<i64 const> made) {
  std::string const text = text_of(at);
  std::size_t const index_count = made.size();
  if (index_count == 0 && !at.indices.empty())
    throw model_error(message(
        "overdub: the model @%s makes one choice \"%.80s\", which has no indices, and %.80s was asked for",
        of.name().c_str(), at.site.c_str(), text.c_str()));
  if (at.indices.size() > index_count)
    throw model_error(message(
        "overdub: %.80s has %zu indices, and each choice \"%.80s\" of the model @%s has %zu", text.c_str(),
        at.indices.size(), at.site.c_str(), of.name().c_str(), index_count));
  for (std::size_t k = 0; k < at.indices.size(); ++k)
    if (at.indices[k] < 0 || at.indices[k] >= made[k])
      throw model_error(message(
          "overdub: there is no choice %.80s: the model @%s made %lld of them along this index, which counts "
          "from 0",
          text.c_str(), of.name().c_str(), static_cast<long long>(made[k])));
  throw model_error(message(
      "overdub: the model @%s did not sample %.80s in this run: it is nested in a branch that was not taken",
      of.name().c_str(), text.c_str()));
}

choice_map trace::choices() const { return choices(selection::all()); }

choice_map trace::choices(selection const& of) const {
  core().check(of);
  choice_map all;
  for (std::uint32_t s = 0; s < values_.size(); ++s) {
    site const& each = core_->sites()[s];
    int const extent = of.extent(each.address);
    if (extent < 0) continue;
    if (extent > 0 && !each.is_conditional) {
      all.set(each.address, {}, values_[s]);
      continue;
    }
    for_each(s, [&](std::vector<i64> const& at) {
      if (of.contains(each.address, at)) all.set(each.address, at, part_of(values_[s], at));
    });
  }
  return all;
}

std::size_t trace::size() const {
  std::size_t count = 0;
  for (std::uint32_t s = 0; s < values_.size(); ++s) {
    site const& each = core_->sites()[s];
    std::size_t own = 1;
    for (std::uint32_t k = 0; k < each.index_count; ++k)
      own *= static_cast<std::size_t>(values_[s].shape()[k]);
    if (each.is_conditional) {
      own = 0;
      for_each(s, [&](std::vector<i64> const&) { ++own; });
    }
    count += own;
  }
  return count;
}

} // namespace overdub::models
