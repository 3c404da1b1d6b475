// The laws of passes, checked on random programs: the result is valid, equivalent and deterministic.
#pragma once

#include "catch.hpp"
#include "pass/random_program.hpp"
#include "pass/reference.hpp"

#include <overdub/implementation/pass/cost.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace laws {

using namespace overdub::ir;
using transform = std::function<void(program&)>;

/// Arguments for the entry of a random program.
inline std::vector<reference::value> arguments(std::uint64_t seed) {
  random_program::random_numbers random(seed);
  auto number = [&] { return reference::of_number(static_cast<double>(random.below(64)) / 8 - 4); };
  auto integer = [&] { return reference::of_number(static_cast<std::int64_t>(random.below(5)) - 1); };
  auto three = [&](type t, auto const& element) {
    reference::value a{t.element, t.rank, 0, {}, {}};
    for (int i = 0; i < 3; ++i) a.rows.push_back(element());
    return a;
  };
  auto row = [&] { return three(f64.array_of(), number); };
  reference::value const depth = reference::of_number(static_cast<std::int64_t>(random.below(3)));
  reference::value const x = number();
  reference::value const a_bool = reference::of_number(random.chance(50));
  return {
      depth,
      x,
      a_bool,
      row(),
      three(i64.array_of(), integer),
      three(f64.array_of().array_of(), row),
      reference::of_number(1.5f)};
}

enum class errors { same, any };

/// Whether a transformed program is equivalent. Which of several errors is thrown may be unspecified.
inline bool same_outcome(reference::outcome const& before, reference::outcome const& after, errors kind) {
  using reference::failure;
  if (before.failed == failure::none || kind == errors::same) return before == after;
  return after.failed != failure::none && before.log == after.log;
}

/// How many random programs to run: fewer under the sanitizers, which take forty times as long without optimisation.
constexpr std::uint64_t seeds(std::uint64_t count) {
#if defined(__SANITIZE_ADDRESS__)
  return count / 40;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return count / 40;
#else
  return count;
#endif
#else
  return count;
#endif
}

/// The promises of a transformation, besides equivalence.
struct promise {
  bool is_idempotent = true;
  errors thrown = errors::same;
  bool keeps_cost = true;
};

/// The failure of a transformation on a program; nothing if there is none, or if the program runs too long.
inline std::string fault_of(program const& p, transform const& f, promise const& given, std::uint64_t seed) {
  program once = p;
  f(once);
  if (auto const faults = faults_of(once); !faults.empty())
    return "the result is not valid: " + faults[0].text;
  program again = p;
  f(again);
  if (!(again == once)) return "two runs give different programs";
  if (given.is_idempotent) {
    f(again);
    if (!(again == once)) return "a second run changes the program";
  }
  if (given.keeps_cost && overdub::pass::cost(once) > overdub::pass::cost(p)) return "the cost is higher";
  auto const in = arguments(seed);
  auto const before = reference::run(p, in, 20'000);
  if (!before) return {};
  auto const after = reference::run(once, in, 100'000);
  bool const fails_anyhow = given.thrown == errors::any && before->failed != reference::failure::none;
  if (!after) return fails_anyhow ? "" : "the result runs much longer";
  if (!same_outcome(*before, *after, given.thrown)) return "the result does something else";
  return {};
}

/// Shrinks a program for which `fails` holds: operations are replaced by dominating values, or erased.
inline program shrunk(program p, std::function<bool(program const&)> const& fails) {
  auto try_without = [&](function_id f, node_id n) {
    program smaller = p;
    cursor c(smaller, f);
    for (std::uint32_t i = 0; i < c->results_of(n).size(); ++i) {
      value_id const v = c->result(n, i);
      if (!c->is_used(v)) continue;
      type const t = c->type_of(v);
      value_id other = nothing;
      if (t.is_literal()) other = c.literal(t, 0);
      for (value_id const o : c->parameters())
        if (c->type_of(o) == t) other = o;
      for (value_id const o : c->operands_of(n))
        if (c->type_of(o) == t) other = o;
      if (other == nothing) return false;
      c.substitute(v, other);
    }
    c.erase(n);
    if (!faults_of(smaller).empty() || !fails(smaller)) return false;
    p = smaller;
    return true;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (std::uint32_t f = static_cast<std::uint32_t>(p.functions.size()); f-- > 0;)
      for (std::uint32_t n = p.functions[f].node_count(); n-- > 0;)
        if (!p.functions[f].is_erased(node_id{n}) && p.functions[f][node_id{n}].code != op::yield)
          progress = try_without(function_id{f}, node_id{n}) || progress;
  }
  return p;
}

/// Checks a transformation on a program. On failure, the program is shrunk and printed.
inline void hold_for(program const& p, transform const& f, promise const& given, std::uint64_t seed) {
  std::string const fault = fault_of(p, f, given, seed);
  if (fault.empty()) return;
  program const small = shrunk(p, [&](program const& q) { return fault_of(q, f, given, seed) == fault; });
  program result = small;
  f(result);
  FAIL("random program " << seed << ": " << fault << "\n" << print(small) << "\nbecomes\n" << print(result));
}

/// Whether at most one of `parts` events is among `all`, within statistical error.
constexpr bool is_rare(std::uint64_t those, std::uint64_t all, std::uint64_t parts) {
  return those <= all / parts + 4;
}

/// The same on random programs of all kinds.
inline void
hold_for_random_programs(transform const& f, promise const& given, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + seeds(count); ++seed)
    hold_for(
        random_program::of_some_mode(random_program::make(seed, random_program::any_options(seed)), seed), f,
        given, seed);
}

/// Checks that a transformation maps the first text to the second.
inline void rewrites(transform const& f, std::string_view from, std::string_view to) {
  program p = parse(from);
  verify(p);
  f(p);
  INFO("becomes\n" << print(p) << "\nand not\n" << to);
  CHECK(faults_of(p).empty());
  CHECK(p == parse(to));
}

} // namespace laws
