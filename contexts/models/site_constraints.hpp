// Constraints of a run of a model, by site and with the types of their sites.
#pragma once

#include <overdub/contexts/models/trace.hpp>
#include <overdub/contexts/models/typed_choice.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::models::detail {
inline namespace OVERDUB_EXECUTE_ABI {

/// Constraints, by site and with the types of their sites.
class site_constraints {
public:
  site_constraints(model_core const& m, choice_map const& all) : m_(m), whole_(m.sites().size()) {
    has_.assign(m.sites().size(), false);
    for (auto const& [at, x] : all) {
      std::uint32_t const s = m.site_at(at.site);
      site const& of = m.sites()[s];
      if (at.indices.size() > of.turns)
        throw model_error(message(
            "overdub: %.80s was given a value, and \"%s\" has %u %s", text_of(at).c_str(), of.address.c_str(),
            of.turns, of.turns == 1 ? "index" : "indices"));
      ir::type wanted = of.type;
      for (std::size_t k = at.indices.size(); k < of.turns; ++k) wanted = wanted.array_of();
      datum const value = given_as(at, x, wanted);
      has_[s] = true;
      if (at.indices.empty())
        whole_[s] = value;
      else
        has_parts_ = true;
      typed_.set(at, value);
    }
  }

  bool has(std::uint32_t s) const { return has_[s]; }
  /// All choices of a site, where they were given as one and none besides.
  bool is_whole(std::uint32_t s) const { return whole_[s] && !(has_parts_ && has_part(s)); }
  std::vector<datum> const& whole() const { return whole_; }
  datum find(std::uint32_t s, std::span<i64 const> indices) const {
    if (!has_[s]) return {};
    return typed_.find(address(m_.sites()[s].address, {indices.begin(), indices.end()}));
  }
  choice_map const& typed() const { return typed_; }

  /// Throws where a choice was given that a run did not make.
  void check_all_made(trace const& t) const {
    for (auto const& [at, x] : typed_) {
      std::uint32_t const s = m_.site_at(at.site);
      site const& of = m_.sites()[s];
      check_size(at, x, {t.values()[s].shape().data(), of.turns});
      if (at.indices.size() == of.turns && !t.is_made(s, at.indices)) throw_unmade(m_, at);
    }
  }
  [[noreturn]] static void throw_unmade(model_core const& m, address const& at) {
    throw unmade_error(message(
        "overdub: %.80s was given a value, and the model @%s did not sample it: it stands in a branch that "
        "was not taken",
        text_of(at).c_str(), m.name().c_str()));
  }

  /// Throws where an address is none of a site's choices, of which there are so many along each index, or the values are others in number.
  static void check_size(address const& at, datum const& x, std::span<i64 const> made) {
    for (std::size_t k = 0; k < made.size(); ++k) {
      bool const is_index = k < at.indices.size();
      i64 const given = is_index ? at.indices[k] : x.shape()[k - at.indices.size()];
      if (is_index ? given < 0 || given >= made[k] : given != made[k])
        throw_size(at, is_index, given, made[k]);
    }
  }

private:
  bool has_part(std::uint32_t s) const {
    return std::ranges::any_of(typed_, [&](auto const& each) {
      return !each.first.indices.empty() && each.first.site == m_.sites()[s].address;
    });
  }
  [[noreturn]] static void throw_size(address const& at, bool is_index, i64 given, i64 made) {
    if (is_index)
      throw model_error(message(
          "overdub: %.80s was given a value, and the model makes %lld choices along this index",
          text_of(at).c_str(), static_cast<long long>(made)));
    throw model_error(message(
        "overdub: %.80s was given %lld values, and the model makes %lld choices", text_of(at).c_str(),
        static_cast<long long>(given), static_cast<long long>(made)));
  }

  model_core const& m_;
  std::vector<bool> has_;
  std::vector<datum> whole_; // by site
  choice_map typed_;
  bool has_parts_ = false;
};

inline choice_schema tracing(model_core const& m, role r) {
  choice_schema s = m.all_in(r);
  s.score = choice_schema::scores::by_origin;
  s.results = s.values = s.presence = true;
  return s;
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models::detail
