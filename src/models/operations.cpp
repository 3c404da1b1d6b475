#include <overdub/core/floating_point.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/models/operations.hpp>
#include <overdub/models/site_constraints.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace overdub::models {
namespace detail {

inline bool has_nan(datum const& x) {
  auto const is_nan = [](double each) { return overdub::is_nan(each); };
  return x.type().rank == 0 ? is_nan(x.as<double>()) : std::ranges::any_of(x.elements<double>(), is_nan);
}
// Why the log density of a choice is NaN, as the end of a sentence.
inline std::string why_undefined(trace const& t, std::uint32_t s, std::vector<i64> const& at) {
  model_core const& m = t.core();
  datum const x = t.choice(s, at);
  if (x.type().element == ir::scalar::f64 && has_nan(x)) return ", which is no number";
  std::string why = "a parameter of its distribution is not allowed";
  std::vector<datum> given = t.arguments();
  given.insert(given.end(), t.values().begin(), t.values().end());
  for (i64 const i : at) given.emplace_back(i);
  try { // the distribution's check of its parameters has the reason
    model_core::drawing const now(random_key(0));
    (void)m.code_of(s, site_query::draw)->run(given);
  } catch (model_error const& e) {
    std::string_view const said = e.what(), before = "cannot be drawn: ";
    if (auto const from = said.find(before); from != said.npos) why = said.substr(from + before.size());
  }
  return ", and its log density is NaN: " + why;
}

// Runs a program with sites given as arrays. If an array has another size than the site, the program's error names no address: then the
// model is run again with choices given one by one, which throws a model_error with the address.
inline model_run run_with(
    shared_core const& m, choice_schema const& s, std::vector<datum> const& arguments,
    site_constraints const& given, random_key const& key, chooser const& choose) {
  auto const explain = [&] {
    std::optional<trace> one_by_one;
    try {
      one_by_one = trace(m, arguments, m->run(tracing(*m, role::chosen), arguments, {}, key, choose));
    } catch (model_error const&) {
      throw;
    } catch (error const&) {
      // It fails for another reason, too: the first error is thrown.
    }
    if (one_by_one) given.check_all_made(*one_by_one);
  };
  try {
    return m->run(s, arguments, given.whole(), key, choose);
  } catch (index_error const&) {
    explain();
    throw;
  } catch (size_error const&) {
    explain();
    throw;
  }
}

// The choices of `before` that `after` does not have, or has with another value.
inline choice_map discarded(trace const& before, trace const& after, site_constraints const& changed) {
  choice_map all;
  for (std::uint32_t s = 0; s < before.values().size(); ++s)
    before.for_each(s, [&](std::vector<i64> const& at) {
      if (changed.find(s, at) || !after.is_made(s, at))
        all.set(before.core().sites()[s].address, at, before.choice(s, at));
    });
  return all;
}

} // namespace detail

trace simulate(shared_core const& m, std::vector<datum> const& arguments, random_key const& key) {
  return trace(m, arguments, m->run(detail::tracing(*m, role::drawn), arguments, {}, key));
}

weighted_trace generate(
    shared_core const& m, std::vector<datum> const& arguments, choice_map const& constraints,
    random_key const& key) {
  detail::site_constraints const given(*m, constraints);
  choice_schema s = detail::tracing(*m, role::drawn);
  for (std::uint32_t k = 0; k < s.roles.size(); ++k)
    if (given.is_whole(k))
      s.roles[k] = role::given;
    else if (given.has(k))
      s.roles[k] = role::chosen;
  // Beyond the limit of programs, one generic program serves all combinations of constraints.
  if (m->programs() >= maximum_programs && !m->has(s)) s = detail::tracing(*m, role::chosen);
  model_run r = detail::run_with(m, s, arguments, given, key, [&](std::uint32_t k, std::span<i64 const> at) {
    return given.find(k, at);
  });
  double const weight = r.score;
  trace t(m, arguments, std::move(r));
  given.check_all_made(t);
  return {std::move(t), weight};
}

trace assess(shared_core const& m, std::vector<datum> const& arguments, choice_map const& choices) {
  detail::site_constraints const given(*m, choices);
  choice_schema s = detail::tracing(*m, role::chosen);
  for (std::uint32_t k = 0; k < s.roles.size(); ++k)
    if (given.is_whole(k)) s.roles[k] = role::given;
  model_run r =
      detail::run_with(m, s, arguments, given, random_key(0), [&](std::uint32_t k, std::span<i64 const> at) {
        datum const x = given.find(k, at);
        if (!x)
          throw model_error(message(
              "overdub: the model @%s samples %.80s, which was given no value; generate(constraints, key) "
              "draws what is not given",
              m->name().c_str(), text_of(address(m->sites()[k].address, {at.begin(), at.end()})).c_str()));
        return x;
      });
  trace t(m, arguments, std::move(r));
  given.check_all_made(t);
  return t;
}

updated_trace update(
    trace const& t, std::vector<datum> const& arguments, choice_map const& changes, random_key const& key) {
  shared_core const& m = t.shared_core();
  detail::site_constraints const given(*m, changes);
  model_run r = m->run(
      detail::tracing(*m, role::chosen), arguments, {}, key, [&](std::uint32_t k, std::span<i64 const> at) {
        datum const x = given.find(k, at);
        if (x) return x;
        return t.is_made(k, at) ? t.choice(k, at) : datum();
      });
  double const weight = r.score - t.score();
  updated_trace u{trace(m, arguments, std::move(r)), weight, {}};
  given.check_all_made(u.of);
  u.discard = detail::discarded(t, u.of, given);
  return u;
}

updated_trace regenerate(
    trace const& t, std::vector<datum> const& arguments, selection const& of, choice_map const& observed,
    random_key const& key) {
  shared_core const& m = t.shared_core();
  t.core().check(of);
  detail::site_constraints const given(*m, observed);
  auto const stays = [&](std::uint32_t k, std::span<i64 const> at) {
    return t.is_made(k, at) && (!of.contains(m->sites()[k].address, at) || given.find(k, at));
  };
  model_run r = m->run(
      detail::tracing(*m, role::chosen), arguments, {}, key, [&](std::uint32_t k, std::span<i64 const> at) {
        datum x = given.find(k, at);
        return !x && stays(k, at) ? t.choice(k, at) : x;
      });
  double const kept_score = r.score;
  updated_trace u{trace(m, arguments, std::move(r)), kept_score, {}};
  given.check_all_made(u.of);
  std::vector<datum> const before = t.log_densities();
  for (std::uint32_t k = 0; k < before.size(); ++k)
    t.for_each(k, [&](std::vector<i64> const& at) {
      if (stays(k, at) && u.of.is_made(k, at))
        u.weight -= part_of(before[k], at).as<double>();
      else
        u.discard.set(m->sites()[k].address, at, t.choice(k, at));
    });
  return u;
}

choice_map choice_gradients(trace const& t, selection const& of) {
  model_core const& m = t.core();
  m.check(of);
  std::vector<bool> requested;
  for (site const& s : m.sites()) {
    requested.push_back(of.extent(s.address) >= 0);
    if (requested.back() && s.is_discrete()) detail::throw_discrete(s.address);
  }
  std::vector<datum> const gradient = m.gradient(requested, t.arguments(), t.values());
  choice_map all;
  std::size_t next = 0;
  for (std::uint32_t k = 0; k < m.sites().size(); ++k) {
    if (!requested[k]) continue;
    site const& s = m.sites()[k];
    datum const& each = gradient[next++];
    if (of.extent(s.address) > 0 && !s.is_conditional)
      all.set(s.address, {}, each);
    else
      t.for_each(k, [&](std::vector<i64> const& at) {
        if (of.contains(s.address, at)) all.set(s.address, at, part_of(each, at));
      });
  }
  return all;
}

std::vector<datum> argument_gradients(trace const& t) {
  return t.core().argument_gradient(t.arguments(), t.values());
}

std::string improper_choice(trace const& t) {
  if (overdub::is_finite(t.score())) return {};
  model_core const& m = t.core();
  std::vector<datum> const densities = t.log_densities();
  bool const is_nan = overdub::is_nan(t.score()); // then a choice whose log density is NaN
  std::string found;
  for (std::uint32_t k = 0; k < t.values().size() && found.empty(); ++k)
    t.for_each(k, [&](std::vector<i64> const& at) {
      double const log_density = part_of(densities[k], at).as<double>();
      if (!found.empty() || overdub::is_finite(log_density) || (is_nan && !overdub::is_nan(log_density)))
        return;
      found = text_of(address(m.sites()[k].address, at)) + " is " + overdub::text_of(t.choice(k, at)) +
              (log_density < 0   ? ", which its distribution never gives"
               : log_density > 0 ? ", where its density is infinite"
                                 : detail::why_undefined(t, k, at));
    });
  return found;
}

void throw_moved_model() {
  throw model_error(message("overdub: this model was moved from; assign to it before it is used"));
}

} // namespace overdub::models
