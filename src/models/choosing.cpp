#include <overdub/implementation/ir/parse/spelling.hpp>
#include <overdub/models/choosing.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <string>

namespace overdub::models {

void choice_record::add(address at, made_choice choice) {
  auto const next = all_.lower_bound(at);
  if (next != all_.end() && next->first == at)
    throw model_error(message(
        "overdub: a choice at the address %.80s is made twice; make them in map, loop or while_, which "
        "number their iterations, or give each call a name of its own by within",
        text_of(at).c_str()));
  bool const is_above = next != all_.end() && detail::is_below(next->first, at);
  if (is_above || (next != all_.begin() && detail::is_below(at, std::prev(next)->first)))
    throw model_error(message(
        "overdub: choices are made at the addresses %.80s and %.80s; choices of one name have as many "
        "indices, "
        "each: give the calls in a map or a loop a name of their own by within",
        text_of(is_above ? next->first : std::prev(next)->first).c_str(), text_of(at).c_str()));
  double const density = choice.log_density;
  score_ += density;
  (choice.is_drawn ? drawn_score_ : given_score_) += density;
  all_.emplace_hint(next, std::move(at), std::move(choice));
}

datum choice_record::value(address const& at) const {
  if (made_choice const* const one = find(at)) return one->value;
  auto const first = all_.upper_bound(at);
  auto const is_below = [&](auto const each) {
    return each != all_.end() && detail::is_below(each->first, at);
  };
  if (!is_below(first)) return {};
  std::size_t const above = at.indices.size(), axes = first->first.indices.size() - above;
  datum const& like = first->second.value;
  datum::extents shape(axes, 0);
  for (auto each = first; is_below(each); ++each) {
    auto const& [where, choice] = *each;
    if (where.indices.size() != above + axes || choice.value.type() != like.type() ||
        choice.value.shape() != like.shape())
      return {};
    for (std::size_t k = 0; k < axes; ++k)
      shape[k] = std::max({shape[k], where.indices[above + k] + 1, choice.trip_counts[above + k]});
  }
  return execute::with_type(like.type().element, [&]<class T>(T) {
    auto const size = static_cast<std::size_t>(like.size()), count = size_of(shape) * size;
    auto const all = std::make_unique<T[]>(count);
    for (auto each = first; is_below(each); ++each) {
      T* const out = &all[number_of(shape, std::span(each->first.indices).subspan(above)) * size];
      if (like.shape().empty())
        *out = each->second.value.template as<T>();
      else
        std::ranges::copy(each->second.value.template elements<T>(), out);
    }
    datum::extents whole = shape;
    whole.insert(whole.end(), like.shape().begin(), like.shape().end());
    return datum::of(std::move(whole), array<T>::copy_of({all.get(), count}));
  });
}

datum choice_record::existing(address const& at) const {
  datum x = value(at);
  if (!x)
    throw model_error(message("overdub: there is no choice at the address %.100s", text_of(at).c_str()));
  return x;
}

double choice_record::project(selection const& of) const {
  double sum = 0;
  for (auto const& [at, choice] : all_)
    if (of.contains(at)) sum += choice.log_density;
  return sum;
}

choice_map choice_record::choices(selection const& of) const {
  choice_map all;
  for (auto const& [at, choice] : all_)
    if (of.contains(at)) all.set(at, choice.value);
  return all;
}

void choice_record::check_all_made(choice_map const& given) const {
  for (auto const& [at, x] : given) {
    if (all_.contains(at)) continue;
    datum::extents const& shape = x.shape();
    std::vector<i64> last; // by axis: the trip count, or where it is unknown, the largest index plus 1
    bool is_made = false;
    for (auto below = all_.upper_bound(at); below != all_.end() && detail::is_below(below->first, at);
         ++below) {
      is_made = true;
      auto const& [address, choice] = *below;
      std::size_t const above = at.indices.size(), axes = address.indices.size() - above;
      if (axes > shape.size()) throw_scalar(at, x.type(), address);
      last.resize(std::max(last.size(), axes), 0);
      for (std::size_t k = 0; k < axes; ++k) {
        i64 const trip_count = choice.trip_counts[above + k], size = shape[k];
        last[k] = trip_count < 0 ? std::max(last[k], address.indices[above + k] + 1) : trip_count;
        if (trip_count >= 0 ? trip_count != size : address.indices[above + k] >= size)
          throw_size(at, size, last[k]);
      }
    }
    for (std::size_t k = 0; k < last.size(); ++k)
      if (last[k] != shape[k]) throw_size(at, shape[k], last[k]);
    bool const is_empty = std::ranges::any_of(shape, [](i64 n) { return n == 0; });
    if (!is_made && !is_empty) throw_unmade(at);
  }
}

void choice_record::check_observed(choice_map const& observed) const {
  check_all_made(observed);
  for (auto const& [at, choice] : all_)
    if (datum const x = observed.find(at)) detail::check_equals(at, x, choice.value);
}

void choice_record::throw_size(address const& at, i64 given, i64 made) {
  throw unmade_error(message(
      "overdub: %.80s was given %lld values, and the run makes %lld iterations", text_of(at).c_str(),
      static_cast<long long>(given), static_cast<long long>(made)));
}
void choice_record::throw_scalar(address const& at, ir::type given, address const& below) {
  throw unmade_error(message(
      "overdub: %.80s was given a value of type %s, and the run makes a choice in each iteration there: give "
      "an array "
      "of all of "
      "them, or one of them, as %.80s",
      text_of(at).c_str(), overdub::detail::text_of(given).c_str(), text_of(below).c_str()));
}
void choice_record::throw_unmade(address const& at) const {
  std::string const wrong = text_of(at);
  ir::detail::nearest_word nearest(wrong);
  std::vector<std::string> texts;
  for (auto const& [each, choice] : all_) texts.push_back(text_of(each));
  for (std::string const& text : texts) nearest.try_word(text);
  throw unmade_error(message(
      "overdub: %.80s was given a value, and the run made no such choice%s", wrong.c_str(),
      nearest.suggestion().c_str()));
}

} // namespace overdub::models
