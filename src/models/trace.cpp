#include <overdub/implementation/models/define_site_choices.hpp>
#include <overdub/models/site_constraints.hpp>
#include <overdub/models/trace.hpp>

namespace overdub::models {

bool trace::is_made(std::uint32_t s, std::span<i64 const> indices) const {
  if (!is_inside(shape(s), indices)) return false;
  return !core_->sites()[s].is_conditional || part_of(presence_[s], indices).as<bool>();
}

std::vector<datum> trace::log_densities() const { return detail::log_densities(core(), arguments_, values_); }

void trace::throw_no_run() {
  throw model_error(message(
      "overdub: this trace is of no run: it was made by trace(), or moved from; simulate or generate one"));
}

void trace::throw_none(model_core const& of, address const& at, std::span<i64 const> made) {
  std::string const text = text_of(at);
  std::size_t const index_count = made.size();
  if (index_count == 0 && !at.indices.empty())
    throw model_error(message(
        "overdub: the model @%s makes one choice \"%.80s\", which has no indices, and %.80s is requested",
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

template class site_choices<trace>;

} // namespace overdub::models
