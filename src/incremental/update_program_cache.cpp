#include <overdub/execute/interpreter.hpp>
#include <overdub/implementation/incremental/work_counter.hpp>
#include <overdub/incremental/error.hpp>
#include <overdub/incremental/update_program_cache.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/pass/pipeline.hpp>

#include <limits>
#include <string>
#include <utility>

namespace overdub {
namespace increments {

// Whether an operation is a call of a hook.
inline bool is_hook(ir::program const& p, ir::function const& f, ir::node_id n) {
  if (!ir::is_observer(f, n)) return false;
  ir::host_binding const* const h = p.host(f[n].attributes.text());
  return h != nullptr && h->is_hook;
}
// Erases the calls of hooks. Returns whether there were any.
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

// Rejects side effects, but for calls of hooks, and operations whose results depend on more than their operands.
inline void reject_effects(ir::program const& p) {
  auto const effects = ir::effects(p).of(p.entry);
  bool is_rejected = false;
  for (effect const e : {effect::ordered, effect::addressed, effect::accumulates, effect::reads_context})
    is_rejected = is_rejected || effects.has(e);
  if (is_rejected)
    throw incremental_error(message(
        "overdub: @%s draws random numbers, reads its context, or has side effects (ordered calls of the "
        "host): it is undefined which of them an update repeats; give the random numbers, or what is read, "
        "as arguments",
        std::string(p.name_of(p.entry)).c_str()));
}
// Rejects values that cannot be saved: they must be numbers, bools, and arrays of these.
inline void reject_values(ir::program const& p) {
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

update_program_cache::update_program_cache(ir::program p, compile_options const& o)
    : program_(std::move(p)), options_(o), layout_(program_[program_.entry]) {
  if (!o.has_default_passes())
    throw incremental_error(message("overdub: update programs are made by passes of their own; leave "
                                    "compile_options::passes as it is for incremental"));
  ir::program without_hooks = program_;
  has_hooks_ = increments::drop_hooks(without_hooks);
  increments::reject_effects(without_hooks);
  pass::default_pipeline(program_);
  // A map is updated at the affected iterations, and a sum by a difference; a loop runs from the first affected iteration to its end.
  if (pass::raise_loops(program_) > 0) pass::default_pipeline(program_);
  // Hooks would observe failed guards, counts of work and plain runs.
  if (has_hooks_) minimum_work = std::numeric_limits<std::uint64_t>::max();
  increments::reject_values(program_);
  layout_ = results_of_function();
}

// Inputs and results, which every run of the function saves.
increments::layout update_program_cache::results_of_function() const {
  increments::layout all(function());
  for (ir::value_id const v : function().operands_of(function().yield_of(ir::function::body)))
    if (!function().is_literal(v) && all.of(v) == increments::layout::none)
      all.add({.of = v, .type = function().type_of(v), .what = increments::variable::role::saved});
  return all;
}

std::shared_ptr<runnable_update const> update_program_cache::for_changes(
    increments::change_signature const& changes, increments::disabled_guards const& d) {
  std::lock_guard const lock(mutex_);
  std::pair key(changes, d);
  if (has_hooks_) key.second = {.all = true, .of = {}};
  if (!d.all && !all_.contains(key) && has_maximum_guard_sets(changes)) key.second = {.all = true, .of = {}};
  auto& cached = all_[key];
  if (cached == nullptr || cached->version != layout_.size())
    cached = runnable(
        increments::make_update_program(program_, program_.entry, layout_, changes, key.second), key.second);
  return cached;
}
bool update_program_cache::has_maximum_guard_sets(increments::change_signature const& changes) const {
  std::size_t count = 0;
  for (auto at = all_.lower_bound({changes, {}}); at != all_.end() && at->first.first == changes; ++at)
    ++count;
  return count >= maximum_guard_sets;
}

std::shared_ptr<runnable_update const> update_program_cache::full_update() {
  std::lock_guard const lock(mutex_);
  if (whole_ == nullptr || whole_->version != layout_.size())
    whole_ = runnable(increments::make_full_update(program_, program_.entry, layout_), {});
  return whole_;
}

std::shared_ptr<runnable_update const> update_program_cache::full_update_without_hooks() {
  std::lock_guard const lock(mutex_);
  if (!has_hooks_) return nullptr;
  if (without_hooks_ == nullptr || without_hooks_->version != layout_.size()) {
    increments::update_program s = increments::make_full_update(program_, program_.entry, layout_);
    (void)increments::drop_hooks(s.program);
    without_hooks_ = runnable(std::move(s), {});
  }
  return without_hooks_;
}

std::shared_ptr<runnable_update const> update_program_cache::plain() {
  std::lock_guard const lock(mutex_);
  if (plain_ == nullptr) {
    increments::layout results = results_of_function();
    increments::update_program s = increments::make_full_update(program_, program_.entry, results);
    for (increments::step& each : s.steps)
      if (!each.why.empty()) each.why = "a plain run is less work than an update";
    plain_ = runnable(std::move(s), {});
  }
  return plain_;
}

std::shared_ptr<execute::code const> runnable_update::work() const {
  std::lock_guard const lock(mutex_);
  if (work_ == nullptr) {
    work_ = tiered_program::of(increments::work_counter_of(text_), {}, optimised::already);
    text_ = {};
  }
  return work_->code();
}

increments::layout update_program_cache::variables() const {
  std::lock_guard const lock(mutex_);
  return layout_;
}

std::size_t update_program_cache::count() const {
  std::lock_guard const lock(mutex_);
  return all_.size();
}

std::size_t update_program_cache::made() const {
  std::lock_guard const lock(mutex_);
  return made_;
}

std::shared_ptr<runnable_update const>
update_program_cache::runnable(increments::update_program s, increments::disabled_guards d) {
  auto made = std::make_shared<runnable_update>(s.program);
  made->disabled_guards = std::move(d);
  made->version = layout_.size();
  made->code = tiered_program::of(std::move(s.program), options_, optimised::when_compiled);
  for (increments::gather& g : s.gathers)
    made->gathers.push_back(
        {tiered_program::of(std::move(g.counts), {}, optimised::already),
         tiered_program::of(std::move(g.keys), {}, optimised::already)});
  made->program = std::move(s);
  ++made_;
  return made;
}

} // namespace overdub
