// The program of a session: of a function in contexts, from which incremental and model derive other programs. It refers to the contexts
// only for their hooks: the fields that rules read are its last arguments.
#pragma once

#include <overdub/compile/compilation.hpp>
#include <overdub/compile/fields_as_arguments.hpp>
#include <overdub/compile/global.hpp>
#include <overdub/core/function_view.hpp>
#include <overdub/core/library.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

struct session_program {
  ir::program program;
  std::vector<field_argument> fields;
  bool has_hooks = false;
};

// Whether the thread's scoped_globals apply.
enum class globals : bool { ignored, applied };

// The program of a recipe with so many contexts of its own, in the scoped_globals from `last` on, which are the innermost contexts.
session_program session_program_of(recipe r, global_context const* last, std::size_t own_contexts);

// What sessions of one key share: the object that is derived from the program, and the fields that rules read.
struct session_core {
  std::shared_ptr<void> made;
  std::shared_ptr<std::vector<field_argument> const> fields; // null: no fields
  bool has_hooks = false;
};
// The cache of session cores: one for each function, argument types, fingerprints of contexts, and options, for the whole process. Thread-safe.
class session_programs {
public:
  session_programs();
  session_programs(session_programs const&) = delete;
  session_programs& operator=(session_programs const&) = delete;
  ~session_programs();

  // The object of a key. The first call with a key creates it by make(program()).
  session_core
  get(std::string key, function_view<session_program()> program,
      function_view<std::shared_ptr<void>(ir::program&&)> make);

private:
  struct table;
  std::unique_ptr<table> table_;
};

// Appends the fingerprints of scoped_globals to a key, and applies their options.
void add_globals(std::string& key, compile_options& o, global_context const* last);

template <class Made, class F, class A, class... C>
OVERDUB_HIDDEN session_core session_core_of(F const& f, globals outer, compile_options o, C&... c) {
  static session_programs all;
  std::string key;
  write_fingerprints(key, c...);
  global_context const* const last = outer == globals::applied ? global_contexts() : nullptr;
  add_globals(key, o, last);
  key += o.key();
  auto const program = [&] {
    return session_program_of(
        compilation<F, A, C...>::recipe_of(f, name_of_callee<F>(), o, c...), last, sizeof...(C));
  };
  auto const make = [&](ir::program&& p) -> std::shared_ptr<void> {
    return std::make_shared<std::remove_const_t<Made>>(std::move(p), o);
  };
  return all.get(std::move(key), program, make);
}

// Creates a session in contexts by make(made, contexts). If rules read fields, or there are hooks, it owns or refers to the contexts.
template <class Made, class F, class A, class Composition, class Make>
auto session_in(
    F const& f, globals outer, compile_options const& options, Composition all, Make const& make) {
  auto const held = std::make_shared<Composition>(std::move(all));
  return overdub::detail::apply_to(
      [&]<class... C>(C&... c) {
        auto const found =
            session_core_of<Made, F, A>(f, outer, compilation<F, A, C...>::options(options), c...);
        auto const made = std::static_pointer_cast<Made>(found.made);
        if (found.fields == nullptr && !found.has_hooks) return make(made, session_contexts());
        return make(made, session_contexts(found.fields, {const_cast<std::remove_const_t<C>*>(&c)...}, held));
      },
      context_tuple(*held));
}

} // namespace overdub::detail
