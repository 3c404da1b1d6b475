#pragma once

#include <overdub/contexts/models/choosing.hpp>
#include <overdub/contexts/models/typed_choice.hpp>
#include <overdub/ir/parse/spelling.hpp>

#include <string>

namespace overdub::models {

OVERDUB_DECL void choice_record::add(address at, made_choice choice) {
  score_ += choice.log_density;
  if (choice.is_drawn) drawn_score_ += choice.log_density;
  auto const [where, is_new] = all_.try_emplace(std::move(at), std::move(choice));
  if (!is_new)
    throw model_error(message(
        "overdub: a choice at the address %.80s is made twice; make them in map, loop or while_, which "
        "number "
        "their turns, or give each call a name of its own by within",
        text_of(where->first).c_str()));
}

OVERDUB_DECL choice_map choice_record::choices(selection const& of) const {
  choice_map all;
  for (auto const& [at, choice] : all_)
    if (of.contains(at)) all.set(at, choice.value);
  return all;
}

OVERDUB_DECL void choice_record::check_all_made(choice_map const& given) const {
  for (auto const& [at, x] : given) {
    if (all_.contains(at)) continue;
    i64 made = 0;
    std::size_t axes = 0;
    for (auto below = all_.upper_bound(at); below != all_.end() && detail::is_below(below->first, at);
         ++below) {
      ++made;
      axes = below->first.indices.size() - at.indices.size();
    }
    if (made == 0) {
      std::string const wrong = text_of(at);
      ir::detail::nearest_word nearest(wrong);
      std::vector<std::string> texts;
      for (auto const& [each, choice] : all_) texts.push_back(text_of(each));
      for (std::string const& text : texts) nearest.try_word(text);
      throw unmade_error(message(
          "overdub: %.80s was given a value, and the run made no such choice%s", wrong.c_str(),
          nearest.suggestion().c_str()));
    }
    i64 wanted = 1;
    for (std::size_t k = 0; k < axes; ++k) wanted *= k < x.shape().size() ? x.shape()[k] : 0;
    if (made != wanted)
      throw model_error(message(
          "overdub: %.80s was given %lld values, and the run made %lld choices", text_of(at).c_str(),
          static_cast<long long>(wanted), static_cast<long long>(made)));
  }
}

namespace detail {

OVERDUB_DECL datum given_as(address const& at, datum const& x, ir::type wanted) {
  datum y = converted(x, wanted);
  if (!y)
    throw model_error(message(
        "overdub: %.80s was given a value of type %s, and the model chooses %s", text_of(at).c_str(),
        overdub::detail::text_of(x.type()).c_str(), overdub::detail::text_of(wanted).c_str()));
  return y;
}
OVERDUB_DECL void throw_undrawable(address const& at, std::string_view why) {
  if (why.starts_with("overdub: ")) why.remove_prefix(9);
  throw model_error(message(
      "overdub: %s cannot be drawn: %.*s", text_of(at).c_str(), static_cast<int>(why.size()), why.data()));
}

} // namespace detail
} // namespace overdub::models
