#include <overdub/compile/session_program.hpp>
#include <overdub/pass/pipeline.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace overdub::detail {

// The default pipeline, which keeps functions that nothing calls: those of distributions are found by their names.
inline void optimise_all_functions(ir::program& p) {
  std::string const entry(p.name_of(p.entry));
  p.entry = ir::nothing;
  pass::default_pipeline(p);
  p.entry = *p.find(entry);
}

session_program session_program_of(recipe r, global_context const* last, std::size_t own_contexts) {
  std::size_t number = own_contexts;
  for (auto const* g = last; g != nullptr; g = g->before) {
    r.staged = g->rewrite(r.staged, g->object, number++);
    g->add_passes(r.passes, g->object);
  }
  // The stages of `rewritten`, but for the options' pipeline: sessions derive programs from this one, and optimise these. Passes
  // `after_optimise` receive an optimised program.
  run_early_passes(r);
  if (!r.passes.empty()) {
    optimise_all_functions(r.staged);
    run_passes(r, compilation_stage::after_optimise);
  }
  session_program made{std::move(r.staged), {}};
  made.fields = fields_as_arguments(made.program);
  for (field_argument const& field : made.fields)
    if (field.context >= own_contexts)
      throw staging_error(message(
          "overdub: @%s is updated incrementally where a scoped_global with a context_field is open, which "
          "may end before "
          "the next update; give the context to incremental or model",
          r.name.c_str()));
  for (ir::host_binding const& h : made.program.hosts) {
    made.has_hooks = made.has_hooks || h.context < own_contexts;
    if (h.context != ir::host_binding::no_context && h.context >= own_contexts)
      throw staging_error(message(
          "overdub: @%s is updated incrementally where a scoped_global with hooks is open (%s), which may "
          "end before the "
          "next update; give the context to incremental, or run the function",
          r.name.c_str(), std::string(made.program.text(h.name)).c_str()));
  }
  return made;
}

void add_globals(std::string& key, compile_options& o, global_context const* last) {
  for (auto const* g = last; g != nullptr; g = g->before) {
    key.append(reinterpret_cast<char const*>(&g->type), sizeof g->type);
    g->append_fingerprint(key, g->object);
    g->adjust(o);
  }
}

struct session_programs::table {
  std::mutex mutex;
  std::map<std::string, session_core> all;
};
session_programs::session_programs() : table_(std::make_unique<table>()) {}
session_programs::~session_programs() = default;

session_core session_programs::get(
    std::string key, function_view<session_program()> program,
    function_view<std::shared_ptr<void>(ir::program&&)> make) {
  std::lock_guard const lock(table_->mutex);
  session_core& found = table_->all[std::move(key)];
  if (found.made == nullptr) {
    session_program p = program();
    if (!p.fields.empty())
      found.fields = std::make_shared<std::vector<field_argument> const>(std::move(p.fields));
    found.has_hooks = p.has_hooks;
    found.made = make(std::move(p.program));
  }
  return found;
}

} // namespace overdub::detail
