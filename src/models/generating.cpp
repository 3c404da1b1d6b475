#include <overdub/models/generating.hpp>

#include <memory>
#include <utility>

namespace overdub::models::detail {

choosing::source constrained(choice_map const& by) {
  return [&by](address const& at, ir::type) { return by.find(at); };
}

choosing::source required(choice_map const& choices) {
  return [&choices](address const& at, ir::type) {
    datum x = choices.find(at);
    if (!x)
      throw model_error(message(
          "overdub: the model samples %.80s, which was given no value; generate(constraints, key) draws what "
          "is not given",
          text_of(at).c_str()));
    return x;
  };
}

// A choice of another type than the earlier one is drawn.
choosing::source replayed(choice_record const& before, choice_map const& changes) {
  return [&](address const& at, ir::type type) {
    if (datum x = changes.find(at)) return x;
    made_choice const* const choice = before.find(at);
    return choice != nullptr && choice->value.type() == type ? choice->value : datum();
  };
}

choosing::source redrawn(choice_record const& before, selection const& of, choice_map const& observed) {
  return [&of, &observed, kept = replayed(before, observed)](address const& at, ir::type type) {
    return of.contains(at) ? observed.find(at) : kept(at, type);
  };
}

record_change update_of(choice_record const& before, choice_record const& now, choice_map const& changes) {
  record_change change{now.given_score() - before.score(), {}};
  for (auto const& [at, choice] : before) {
    made_choice const* const next = now.find(at);
    if (next == nullptr || next->is_drawn || changes.contains(at)) change.discard.set(at, choice.value);
  }
  return change;
}

record_change
regeneration_of(choice_record const& before, choice_record const& now, choice_map const& observed) {
  record_change change;
  for (auto const& [at, choice] : before) {
    made_choice const* const next = now.find(at);
    if (next == nullptr || next->is_drawn)
      change.discard.set(at, choice.value);
    else
      change.weight += next->log_density - choice.log_density;
  }
  if (!observed.empty())
    for (auto const& [at, choice] : now)
      if (!choice.is_drawn && before.find(at) == nullptr) change.weight += choice.log_density;
  return change;
}

} // namespace overdub::models::detail

namespace overdub::models {
namespace {

// A source that owns what it refers to.
template <class Data>
choosing::source owning(std::shared_ptr<Data> all, choosing::source of) {
  return
      [all = std::move(all), of = std::move(of)](address const& at, ir::type type) { return of(at, type); };
}

} // namespace

generating::generating(std::shared_ptr<choice_map const> const& all, random_key const& key)
    : choosing(key, owning(all, detail::constrained(*all))), constraints_(all) {}

double generating::weight() const {
  made().check_all_made(*constraints_);
  return made().given_score();
}

double assessing::score() const {
  made().check_all_made(*choices_);
  return made().score();
}

assessing::assessing(std::shared_ptr<choice_map const> const& all)
    : choosing(random_key(0), owning(all, detail::required(*all))), choices_(all) {}

record_change updating::change() const {
  made().check_all_made(data_->changes);
  return detail::update_of(data_->before, made(), data_->changes);
}

updating::updating(std::shared_ptr<data const> const& all, random_key const& key)
    : choosing(key, owning(all, detail::replayed(all->before, all->changes))), data_(all) {}

record_change regenerating::change() const {
  made().check_all_made(data_->observed);
  return detail::regeneration_of(data_->before, made(), data_->observed);
}

regenerating::regenerating(std::shared_ptr<data const> const& all, random_key const& key)
    : choosing(key, owning(all, detail::redrawn(all->before, all->of, all->observed))), data_(all) {}

} // namespace overdub::models
