#include <overdub/models/generating.hpp>

#include <memory>
#include <utility>

namespace overdub::models::detail {

datum previous_choice(choice_record const& before, address const& at, ir::type type) {
  made_choice const* const choice = before.find(at);
  return choice != nullptr && choice->value.type() == type ? choice->value : datum();
}

datum required_choice(choice_map const& choices, address const& at) {
  datum x = choices.find(at);
  if (!x)
    throw model_error(message(
        "overdub: the model samples %.80s, which was given no value; generate(constraints, key) draws what "
        "is not given",
        text_of(at).c_str()));
  return x;
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

double generating::weight() const {
  made().check_all_made(*constraints_);
  return made().given_score();
}

double assessing::score() const {
  made().check_all_made(*choices_);
  return made().score();
}

assessing::assessing(std::shared_ptr<choice_map const> const& all)
    : choosing(
          random_key(0), [all](address const& at, ir::type) { return detail::required_choice(*all, at); }),
      choices_(all) {}

record_change updating::change() const {
  made().check_all_made(data_->changes);
  return detail::update_of(data_->before, made(), data_->changes);
}

updating::updating(std::shared_ptr<data const> const& all, random_key const& key)
    : choosing(
          key,
          [all](address const& at, ir::type type) {
            datum x = all->changes.find(at);
            return x ? x : detail::previous_choice(all->before, at, type);
          }),
      data_(all) {}

record_change regenerating::change() const {
  made().check_all_made(data_->observed);
  return detail::regeneration_of(data_->before, made(), data_->observed);
}

regenerating::regenerating(std::shared_ptr<data const> const& all, random_key const& key)
    : choosing(
          key,
          [all](address const& at, ir::type type) {
            datum x = all->observed.find(at);
            if (x) return x;
            return all->of.contains(at) ? datum() : detail::previous_choice(all->before, at, type);
          }),
      data_(all) {}

} // namespace overdub::models
