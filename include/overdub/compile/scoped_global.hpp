// scoped_global: a context for all that a thread calls compiled.
#pragma once

#include <overdub/compile/compile.hpp>
#include <overdub/compile/global.hpp>
#include <overdub/stage/evaluate.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {

/// Makes a context the outermost of every compiled function without contexts of its own that this thread enters until the end
/// of a scope; of several scopes, the inner one's is outermost. What is made for it is kept as what compile makes: by its
/// type and its fingerprint. The direct way decides contexts by type, and does not ask. The context must outlive the scope,
/// which is left in the order in which it was entered. It keeps no metadata, since results keep their types.
///   scoped_global const logged(log); f(2.0);
template <class C>
class scoped_global {
  static_assert(
      !detail::carries_metadata<C>, "overdub: a scoped_global keeps no metadata: results keep their types; "
                                    "compile the function for the context instead");
  static_assert(
      detail::staging_context<C>::can_be_rebuilt,
      "overdub: a context has data and rules or enter, which may read them while a program is made: another "
      "instance "
      "would get the same program; give it fingerprint(), and a constructor from what that returns");

public:
  OVERDUB_HIDDEN explicit scoped_global(C& context) {
    entry_.before = std::exchange(global_contexts(), &entry_);
    entry_.object = &context;
    entry_.type = &detail::type_key<C>;
    entry_.append_fingerprint = [](std::string& to, void const* object) {
      detail::write_fingerprints(to, *static_cast<C const*>(object));
    };
    entry_.add_passes = [](std::vector<context_pass>& to, void const* object) {
      detail::stages_of<C>{*static_cast<C const*>(object), to}.add();
    };
    entry_.adjust = [](compile_options& o) {
      if constexpr (detail::declares_options<C>) C::options(o);
    };
    entry_.rewrite = [](ir::program const& p, void* object, std::size_t number) {
      decltype(auto) rebuilt = detail::staging_context<C>::of(*static_cast<C*>(object));
      detail::recorder r;
      r.contexts.resize(number);
      r.contexts.push_back(
          {const_cast<std::byte*>(reinterpret_cast<std::byte const*>(&rebuilt)), sizeof rebuilt});
      staging innermost(r);
      return detail::rewritten(
          r, detail::make_run_stack<types<>>(stack<level<staging, void>>(innermost, stack<>{}), rebuilt), p);
    };
  }
  scoped_global(scoped_global const&) = delete;
  scoped_global& operator=(scoped_global const&) = delete;
  OVERDUB_HIDDEN ~scoped_global() { global_contexts() = entry_.before; }

private:
  global_context entry_;
};

} // namespace overdub
