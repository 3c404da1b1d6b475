// The laws that passes keep, checked on random programs: what comes out is valid, means the same, is the same each time.
#pragma once

#include "catch.hpp"
#include "pass/random_program.hpp"
#include "pass/reference.hpp"

#include <overdub/ir/equal.hpp>
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
  reference::value const truth = reference::of_number(random.chance(50));
  return {
      depth,
      x,
      truth,
      row(),
      three(i64.array_of(), integer),
      three(f64.array_of().array_of(), row),
      reference::of_number(1.5f)};
}

enum class errors { same, any };

/// Whether a transformed program does what it did. Which of several errors is thrown may be left open.
inline bool same_outcome(reference::outcome const& before, reference::outcome const& after, errors kind) {
  using reference::failure;
  if (before.failed == failure::none || kind == errors::same) return before == after;
  return after.failed != failure::none && before.log == after.log;
}

/// How many random programs to run: fewer under the sanitizers, which take ten times as long.
constexpr std::uint64_t seeds(std::uint64_t count) {
#if defined(__SANITIZE_ADDRESS__)
  return count / 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return count / 10;
#else
  return count;
#endif
#else
  return count;
#endif
}

/// What a transformation does wrong to a program; nothing, when it is right, or when the program runs too long.
inline std::string
fault_of(program const& p, transform const& f, errors kind, std::uint64_t seed, bool idempotent = true) {
  program once = p;
  f(once);
  if (auto const faults = faults_of(once); !faults.empty())
    return "the result is not valid: " + faults[0].text;
  program again = p;
  f(again);
  if (!(again == once)) return "two runs give different programs";
  if (idempotent) {
    f(again);
    if (!(again == once)) return "a second run changes the program";
  }
  auto const in = arguments(seed);
  auto const before = reference::run(p, in);
  if (!before) return {};
  auto const after = reference::run(once, in, 400'000);
  if (!after) return "the result runs much longer";
  if (!same_outcome(*before, *after, kind)) return "the result does something else";
  return {};
}

/// A smaller program for which `fails` still holds: operations are replaced by values that stand before them, or erased.
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

/// Checks a transformation on random programs. A program that it fails on is shrunk, and reported.
inline void hold_for(
    transform const& f, errors kind, std::uint64_t from, std::uint64_t count,
    random_program::options const& wanted = {}, bool idempotent = true) {
  for (std::uint64_t seed = from; seed < from + seeds(count); ++seed) {
    program const p = random_program::make(seed, wanted);
    std::string const fault = fault_of(p, f, kind, seed, idempotent);
    if (fault.empty()) continue;
    program const small =
        shrunk(p, [&](program const& q) { return fault_of(q, f, kind, seed, idempotent) == fault; });
    FAIL("random program " << seed << ": " << fault);
  }
}

} // namespace laws
