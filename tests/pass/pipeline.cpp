// All passes of the table, alone and in any order, and the default pipeline.
#include "pass/laws.hpp"

#include <overdub/pass/pipeline.hpp>

#include <vector>

namespace {

using overdub::pass::named_pass;
using overdub::pass::passes;

laws::promise promise_of(named_pass const& pass) {
  return {pass.idempotent, pass.keeps_error ? laws::errors::same : laws::errors::any, pass.keeps_cost};
}

} // namespace

TEST_CASE("each pass keeps its declared properties on random programs") {
  for (named_pass const& pass : passes) {
    INFO(pass.name);
    laws::hold_for_random_programs(pass.run, promise_of(pass), 0, 1500);
  }
}

TEST_CASE("any passes in any order preserve random programs, and each keeps its declared properties") {
  for (std::uint64_t seed = 0; seed < laws::seeds(5'000); ++seed) {
    auto const p = random_program::make(seed, random_program::any_options(seed));
    random_program::random_numbers random(seed);
    std::vector<named_pass> chosen;
    laws::promise all{false, laws::errors::same};
    for (std::uint32_t i = 0, n = 1 + random.below(6); i < n; ++i) {
      chosen.push_back(passes[random.below(passes.size())]);
      if (!chosen.back().keeps_error) all.thrown = laws::errors::any;
      all.keeps_cost = all.keeps_cost && chosen.back().keeps_cost;
    }
    laws::hold_for(
        p,
        [&](overdub::ir::program& q) {
          for (named_pass const& pass : chosen) pass.run(q);
        },
        all, seed);
  }
}

TEST_CASE("the default pipeline preserves random programs") {
  laws::hold_for_random_programs(
      [](overdub::ir::program& p) { overdub::pass::default_pipeline(p); }, {false, laws::errors::any}, 50'000,
      2000);
}

TEST_CASE("passes are found by name, and an observer receives each step") {
  CHECK(overdub::pass::find_pass("fold")->name == "fold");
  CHECK_FALSE(overdub::pass::find_pass("unfold").has_value());
  auto p = random_program::make(3);
  std::vector<std::string> observed;
  std::size_t last = overdub::pass::operation_count(p);
  overdub::pass::default_pipeline(p, [&](overdub::pass::pass_report const& r) {
    observed.emplace_back(r.name);
    CHECK(r.operations_before == last);
    last = r.operations_after;
  });
  CHECK(observed.front() == "inline_calls");
  CHECK(observed.back() == "canonicalise");
  CHECK(last == overdub::pass::operation_count(p));
}
