// The program of a function in contexts from which incremental and model derive other programs. It refers to the contexts only for their
// hooks: the fields that rules read are its last arguments.
#pragma once

#include <overdub/compile/compilation.hpp>
#include <overdub/compile/fields_as_arguments.hpp>
#include <overdub/compile/global.hpp>
#include <overdub/core/function_view.hpp>
#include <overdub/header_only.hpp>

#include <cstddef>
#include <memory>
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

// The program of a recipe of as many contexts, and of those that the thread made global, which stand behind them.
OVERDUB_DECL followed_program followed_program_of(recipe r, globals all, std::size_t own_contexts);

// What is made of such programs: one for each function, its arguments' types, the fingerprints of its contexts and options, which the whole
// process shares. Thread-safe.
struct made_of_followed {
  std::shared_ptr<void> made;
  std::shared_ptr<std::vector<field_argument> const> fields; // nothing: none
  bool has_hooks = false;
};
class followed_programs {
public:
  OVERDUB_DECL followed_programs();
  followed_programs(followed_programs const&) = delete;
  followed_programs& operator=(followed_programs const&) = delete;
  OVERDUB_DECL ~followed_programs();

  // What is made of the program of a key; made by make(program) where it is asked for first.
  OVERDUB_DECL made_of_followed
  get(std::string key, function_view<followed_program()> program,
      function_view<std::shared_ptr<void>(ir::program&&)> make);

private:
  struct table;
  std::unique_ptr<table> table_;
};

// Adds the fingerprints and the choices of the contexts that the thread made global.
OVERDUB_DECL void add_globals(std::string& key, compile_options& o, globals around);

template <class Made, class F, class A, class... C>
OVERDUB_HIDDEN made_of_followed followed_once(F const& f, globals around, compile_options o, C&... c) {
  static followed_programs all;
  std::string key;
  write_fingerprints(key, c...);
  add_globals(key, o, around);
  key += o.key();
  auto const program = [&] {
    return followed_program_of(
        compilation<F, A, C...>::recipe_of(f, name_of_callee<F>(), o, c...), around, sizeof...(C));
  };
  auto const make = [&](ir::program&& p) -> std::shared_ptr<void> {
    return std::make_shared<std::remove_const_t<Made>>(std::move(p), o);
  };
  return all.get(std::move(key), program, make);
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
        auto const made = std::static_pointer_cast<Made>(found.made);
        if (found.fields == nullptr && !found.has_hooks) return make(made, followed_contexts());
        return make(
            made, followed_contexts(found.fields, {const_cast<std::remove_const_t<C>*>(&c)...}, held));
      },
      context_tuple(*held));
}

} // namespace overdub::detail

#if OVERDUB_HEADER_ONLY
#include <overdub/compile/followed_program.ipp>
#endif
