#include <overdub/core/floating_point.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/models/initial_trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::models {

std::optional<address> unmade_choice(trace const& t, choice_map const& observed) {
  std::vector<i64> at;
  for (auto const& [where, x] : observed) {
    std::uint32_t const s = t.core().site_at(where.site);
    if (!t.core().sites()[s].is_conditional) continue;
    for (std::size_t k = 0; k < size_of(t.shape(s)); ++k) {
      indices_of(t.shape(s), k, at);
      bool const is_below = std::equal(where.indices.begin(), where.indices.end(), at.begin());
      if (is_below && !t.is_made(s, at)) return address(where.site, at);
    }
  }
  return {};
}

trace initial_trace(
    shared_core const& m, std::vector<datum> const& arguments, choice_map const& observed,
    random_key const& key) {
  trace t;
  detail::until_proper("@" + m->name(), key, [&](random_key const& k) {
    t = generate(m, arguments, observed, k).of;
    return detail::why_improper(t, observed);
  });
  return t;
}

namespace detail {

void until_proper(
    std::string const& model, random_key const& key,
    overdub::detail::function_view<std::string(random_key const&)> const& f) {
  std::string why;
  for (i64 attempt = 0; attempt < 100; ++attempt) {
    try {
      why = f(key.at(attempt));
      if (why.empty()) return;
    } catch (unmade_error const& e) { // a drawn choice takes a branch without the observation
      why = std::string_view(e.what()).substr(9);
    }
  }
  throw model_error(message(
      "overdub: of 100 traces of %s with these observations none has a finite density; in the last, %.150s",
      model.c_str(), why.c_str()));
}

std::string why_improper(trace const& t, choice_map const& observed) {
  auto const unmade = unmade_choice(t, observed);
  return unmade ? text_of(*unmade) + " is observed, and is not made" : improper_choice(t);
}

std::string why_improper(choice_record const& made) {
  if (overdub::is_finite(made.score())) return {};
  auto const is_improper = [](auto const& each) { return !overdub::is_finite(each.second.log_density); };
  auto const found = std::find_if(made.begin(), made.end(), is_improper);
  if (found == made.end()) return "the log densities sum to no finite number";
  double const density = found->second.log_density;
  return "the log density of " + text_of(found->first) + " is " +
         (overdub::is_nan(density) ? "NaN" : io::number_text(density, io::significant(6)));
}

} // namespace detail
} // namespace overdub::models
