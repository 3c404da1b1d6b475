#include <overdub/implementation/pass/reabstraction.hpp>
#include <overdub/ir/function_types.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/pass/pipeline.hpp>

#include <chrono>
#include <cstddef>
#include <utility>

namespace overdub::pass {

pass_runner::pass_runner(program& p, pass_observer observer) : p_(p), observer_(std::move(observer)) {
#if OVERDUB_CHECKED
  ir::verify(p_);
#endif
}

std::size_t pass_runner::operator()(named_pass const& pass) const {
  std::size_t changes = 0;
  if (observer_) {
    std::size_t const before = operation_count(p_);
    auto const start = std::chrono::steady_clock::now();
    changes = pass.run(p_);
    auto const taken = std::chrono::steady_clock::now() - start;
    observer_(
        {pass.name, std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count(), before,
         operation_count(p_)});
  } else {
    changes = pass.run(p_);
  }
#if OVERDUB_CHECKED
  ir::verify(p_);
#endif
  return changes;
}

std::size_t operation_count(program const& p) {
  std::size_t count = 0;
  for (function const& f : p.functions) ir::walk(f, function::body, [&](node_id) { ++count; });
  return count;
}

namespace detail {

/// Removes reabstractions of function values. If the function of an applied value is then known, it is called directly, and inlined.
inline void shorten_reabstractions(program const& p, pass_runner const& run) {
  constexpr int maximum_rounds = 4;
  for (int round = 0; round < maximum_rounds && has_reabstractions(p); ++round) {
    std::size_t changes = run("cancel_reabstractions");
    changes += run("raise_reabstractions");
    changes += run("reabstract_at_callers");
    changes += run("cancel_reabstractions");
    changes += run("specialise_conventions");
    if (changes == 0) break;
    run("simplify");
    run("inline_calls");
  }
}

// Whether arrays of function values remain, which executors do not support.
inline bool has_arrays_of_functions(program const& p) {
  return ir::any_function_value(p, [](function const& f, value_id v) { return f.type_of(v).rank > 0; });
}
inline void make_no_arrays_of_functions(program const& p, pass_runner const& run) {
  run("choose_functions");
  if (!has_arrays_of_functions(p)) return;
  run("dce");
  if (has_arrays_of_functions(p) && run("defunctionalise") > 0) run("inline_calls");
}

} // namespace detail

void default_pipeline(program& p, pass_observer const& observer) {
  pass_runner const run(p, observer);
  if (has_derivatives(p)) run("forget_derivatives");
  run("inline_calls");
  if (p.signature_count() > 0) detail::make_no_arrays_of_functions(p, run);
  detail::shorten_reabstractions(p, run);
  run("fold");
  run("simplify");
  run("cse");
  run("hoist");
  if (run("fuse") > 0) {
    run("simplify");
    run("cse");
  }
  run("dce");
  run("canonicalise");
}

} // namespace overdub::pass
