// The program of a function in contexts from which incremental and model derive other programs. It refers to the contexts only for their
// hooks: the fields that rules read are its last arguments.
#pragma once

#include <overdub/compile/compilation.hpp>
#include <overdub/compile/fields_as_arguments.hpp>
#include <overdub/compile/global.hpp>
#include <overdub/pass/pipeline.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

struct followed_program {
  ir::program program;
  std::vector<field_argument> fields;
  bool has_hooks = false;
};

// Whether the thread's scoped_globals apply.
enum class globals : bool { ignored, asked };
inline global_context const* first_global(globals all) {
  return all == globals::asked ? global_contexts() : nullptr;
}

// The default pipeline without the removal of unused functions: those of distributions are looked up by name.
inline void optimise_all_functions(ir::program& p) {
  std::string const entry(p.name_of(p.entry));
  p.entry = ir::nothing;
  pass::default_pipeline(p);
  p.entry = *p.find(entry);
}

// The program of f for arguments A in contexts C, and in the thread's scoped_globals, which are the innermost contexts.
template <class F, class A, class... C>
followed_program followed_program_of(F const& f, globals all, compile_options const& o, C&... c) {
  using original = compilation<F, A, C...>;
  recipe r = original::recipe_of(f, name_of_callee<F>(), o, c...);
  std::size_t number = sizeof...(C);
  for (auto const* g = first_global(all); g != nullptr; g = g->before) {
    r.staged = g->rewrite(r.staged, g->object, number++);
    g->add_passes(r.passes, g->object);
  }
  run_early_passes(r);
  if (!r.passes.empty()) {
    optimise_all_functions(r.staged);
    run_passes(r, compilation_stage::after_optimise);
  }
  followed_program made{std::move(r.staged), {}};
  made.fields = fields_as_arguments(made.program);
  for (field_argument const& field : made.fields)
    if (field.context >= sizeof...(C))
      throw staging_error(message(
          "overdub: @%s is updated incrementally where a scoped_global with a context_field is open, which "
          "may end before "
          "the next update; give the context to incremental or model",
          r.name.c_str()));
  for (ir::host_binding const& h : made.program.hosts) {
    made.has_hooks = made.has_hooks || h.context < sizeof...(C);
    if (h.context != ir::host_binding::no_context && h.context >= sizeof...(C))
      throw staging_error(message(
          "overdub: @%s is updated incrementally where a scoped_global with hooks is open (%s), which may "
          "end before the "
          "next update; give the context to incremental, or run the function",
          r.name.c_str(), std::string(made.program.text(h.name)).c_str()));
  }
  return made;
}

// The cache of objects that are derived from such programs: one for each function, argument types, fingerprints of contexts, and options,
// for the whole process. Thread-safe.
template <class Made>
struct made_of_followed {
  std::shared_ptr<Made> made;
  std::shared_ptr<std::vector<field_argument> const> fields; // null: no fields
  bool has_hooks = false;
};
template <class Made, class F, class A, class... C>
OVERDUB_HIDDEN made_of_followed<Made> followed_once(F const& f, globals around, compile_options o, C&... c) {
  static std::mutex mutex;
  static std::map<std::string, made_of_followed<Made>> all;
  std::string key;
  write_fingerprints(key, c...);
  for (auto const* g = first_global(around); g != nullptr; g = g->before) {
    key.append(reinterpret_cast<char const*>(&g->type), sizeof g->type);
    g->append_fingerprint(key, g->object);
    g->adjust(o);
  }
  key += o.key();
  std::lock_guard const lock(mutex);
  auto& found = all[key];
  if (found.made == nullptr) {
    followed_program p = followed_program_of<F, A>(f, around, o, c...);
    if (!p.fields.empty())
      found.fields = std::make_shared<std::vector<field_argument> const>(std::move(p.fields));
    found.has_hooks = p.has_hooks;
    found.made = std::make_shared<Made>(std::move(p.program), o);
  }
  return found;
}

// Creates a session in contexts by make(made, contexts). If rules read fields, or there are hooks, it owns or refers to the contexts.
template <class Made, class F, class A, class Composition, class Make>
auto followed_in(
    F const& f, globals around, compile_options const& options, Composition all, Make const& make) {
  auto const held = std::make_shared<Composition>(std::move(all));
  return std::apply(
      [&]<class... C>(C&... c) {
        auto const found =
            followed_once<Made, F, A>(f, around, compilation<F, A, C...>::options(options), c...);
        if (found.fields == nullptr && !found.has_hooks) return make(found.made, followed_contexts());
        return make(
            found.made, followed_contexts(found.fields, {const_cast<std::remove_const_t<C>*>(&c)...}, held));
      },
      context_tuple(*held));
}

} // namespace overdub::detail
