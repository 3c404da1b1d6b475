#pragma once

#include <overdub/contexts/incremental/error.hpp>
#include <overdub/contexts/incremental/slices.hpp>
#include <overdub/contexts/incremental/work_program.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/pass/pipeline.hpp>

#include <limits>
#include <string>
#include <utility>

namespace overdub::contexts {
namespace increments {

// Whether an operation is a call of a hook: it is told of values, and called again where these change.
inline bool is_hook(ir::program const& p, ir::function const& f, ir::node_id n) {
  if (!ir::is_observer(f, n)) return false;
  ir::host_binding const* const h = p.host(f[n].attributes.text());
  return h != nullptr && h->context != ir::host_binding::no_context;
}
// Drops the hooks of a program; whether there were some.
inline bool drop_hooks(ir::program& p) {
  bool any = false;
  for (std::uint32_t f = 0; f < p.functions.size(); ++f)
    for (ir::cursor at(p, ir::function_id{f}); at.next();)
      if (is_hook(p, *at, at.node())) {
        at.erase();
        any = true;
      }
  return any;
}

// What a program may do: nothing that others see, or that depends on more than its inputs, but for hooks.
inline void refuse_effects(ir::program const& p) {
  auto const effects = ir::effects(p).of(p.entry);
  bool refused = false;
  for (effect const e : {effect::ordered, effect::addressed, effect::accumulates, effect::reads_context})
    refused = refused || effects.has(e);
  if (refused)
    throw incremental_error(message(
        "overdub: @%s draws random numbers, reads its context, or has side effects (ordered calls of the "
        "host): it is undefined which of them an update repeats; give the random numbers, or what is read, "
        "as arguments",
        std::string(p.name_of(p.entry)).c_str()));
}
// And what it may compute with: numbers, truths and arrays of them, which are kept.
inline void refuse_values(ir::program const& p) {
  ir::function const& f = p[p.entry];
  auto const check = [&](ir::value_id v) {
    ir::scalar const s = f.type_of(v).element;
    if (s == ir::scalar::key || s == ir::scalar::opaque || s == ir::scalar::function)
      throw incremental_error(message(
          "overdub: @%s computes with function values, keys of random numbers or objects of the host, which "
          "are not saved between updates; apply functions where they are made",
          std::string(p.name_of(p.entry)).c_str()));
  };
  for (ir::value_id const v : f.parameters()) check(v);
  ir::walk(f, ir::function::body, [&](ir::node_id n) {
    for (ir::value_id const v : f.results_of(n)) check(v);
  });
}

} // namespace increments

inline namespace OVERDUB_EXECUTE_ABI {

OVERDUB_DECL incremental_slices::incremental_slices(ir::program p, compile_options const& o)
    : program_(std::move(p)), options_(o), layout_(program_[program_.entry]) {
  if (!o.has_default_passes())
    throw incremental_error(message("overdub: update programs are made by passes of their own; leave "
                                    "compile_options::passes as it is for incremental"));
  ir::program without_hooks = program_;
  has_hooks_ = increments::drop_hooks(without_hooks);
  increments::refuse_effects(without_hooks);
  pass::default_pipeline(program_);
  // Hooks would observe failed guards, counts of work and plain runs.
  if (has_hooks_) least_work = std::numeric_limits<std::uint64_t>::max();
  increments::refuse_values(program_);
  layout_ = results_of_function();
}

// Inputs and results: what any run of the function keeps.
inline increments::layout incremental_slices::results_of_function() const {
  increments::layout all(function());
  for (ir::value_id const v : function().operands_of(function().yield_of(ir::function::body)))
    if (!function().is_literal(v) && all.of(v) == increments::layout::none)
      all.add({.of = v, .type = function().type_of(v), .what = increments::variable::role::kept});
  return all;
}

OVERDUB_DECL std::shared_ptr<runnable_slice const>
incremental_slices::for_schema(increments::schema const& changes, increments::doubts const& d) {
  std::lock_guard const lock(mutex_);
  std::pair key(changes, d);
  if (has_hooks_) key.second = {.all = true, .of = {}};
  if (!d.all && !all_.contains(key) && has_most(changes)) key.second = {.all = true, .of = {}};
  auto& kept = all_[key];
  if (kept == nullptr || kept->version != layout_.size())
    kept = runnable(increments::slice_of(program_, program_.entry, layout_, changes, key.second), key.second);
  return kept;
}
inline bool incremental_slices::has_most(increments::schema const& changes) const {
  std::size_t count = 0;
  for (auto at = all_.lower_bound({changes, {}}); at != all_.end() && at->first.first == changes; ++at)
    ++count;
  return count >= most_doubting;
}

OVERDUB_DECL std::shared_ptr<runnable_slice const> incremental_slices::for_all() {
  std::lock_guard const lock(mutex_);
  if (whole_ == nullptr || whole_->version != layout_.size())
    whole_ = runnable(increments::whole_of(program_, program_.entry, layout_), {});
  return whole_;
}

OVERDUB_DECL std::shared_ptr<runnable_slice const> incremental_slices::for_all_without_hooks() {
  std::lock_guard const lock(mutex_);
  if (!has_hooks_) return nullptr;
  if (without_hooks_ == nullptr || without_hooks_->version != layout_.size()) {
    increments::slice s = increments::whole_of(program_, program_.entry, layout_);
    (void)increments::drop_hooks(s.program);
    without_hooks_ = runnable(std::move(s), {});
  }
  return without_hooks_;
}

OVERDUB_DECL std::shared_ptr<runnable_slice const> incremental_slices::plain() {
  std::lock_guard const lock(mutex_);
  if (plain_ == nullptr) {
    increments::layout results = results_of_function();
    increments::slice s = increments::whole_of(program_, program_.entry, results);
    for (increments::step& each : s.steps)
      if (!each.why.empty()) each.why = "a plain run is less work than an update";
    plain_ = runnable(std::move(s), {});
  }
  return plain_;
}

OVERDUB_DECL std::shared_ptr<execute::code const> runnable_slice::work() const {
  std::lock_guard const lock(mutex_);
  if (work_ == nullptr) {
    work_ = tiered_program::of(increments::work_of(text_), {}, optimised::already);
    text_ = {};
  }
  return work_->code();
}

OVERDUB_DECL increments::layout incremental_slices::variables() const {
  std::lock_guard const lock(mutex_);
  return layout_;
}

OVERDUB_DECL std::size_t incremental_slices::count() const {
  std::lock_guard const lock(mutex_);
  return all_.size();
}

OVERDUB_DECL std::size_t incremental_slices::made() const {
  std::lock_guard const lock(mutex_);
  return made_;
}

inline std::shared_ptr<runnable_slice const>
incremental_slices::runnable(increments::slice s, increments::doubts d) {
  auto made = std::make_shared<runnable_slice>(s.program);
  made->doubts = std::move(d);
  made->version = layout_.size();
  made->code = tiered_program::of(std::move(s.program), options_, optimised::when_compiled);
  for (increments::gather& g : s.gathers)
    made->gathers.push_back(
        {tiered_program::of(std::move(g.counts), {}, optimised::already),
         tiered_program::of(std::move(g.keys), {}, optimised::already)});
  made->what = std::move(s);
  ++made_;
  return made;
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts
