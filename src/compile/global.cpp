#include <overdub/compile/cache.hpp>
#include <overdub/compile/global.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::detail {

artifact_in_globals
in_globals(artifact const& own, std::span<void* const> contexts, global_context const* last) {
  recipe const& of = own.made_of();
  std::vector<global_context const*> globals;
  for (auto const* g = last; g != nullptr; g = g->before) globals.push_back(g);
  artifact_in_globals all{nullptr, {contexts.begin(), contexts.end()}};
  compile_options o = of.options;
  std::string data = std::to_string(own.number()) + ' '; // identifies the artifact and the contexts
  for (global_context const* const g : globals) {
    all.objects.push_back(g->object);
    data.append(reinterpret_cast<char const*>(&g->type), sizeof g->type);
    g->append_fingerprint(data, g->object);
    g->adjust(o);
  }
  compilation_cache& cache = o.cache == nullptr ? compilation_cache::shared() : *o.cache;
  all.made = cache.get({&type_key<global_context>, data + o.key()}, of.name, [&] {
    recipe r = of;
    r.options = o;
    r.staged.math = o.math;
    std::size_t number = contexts.size();
    for (global_context const* const g : globals) {
      r.staged = g->rewrite(r.staged, g->object, number++);
      g->add_passes(r.passes, g->object);
    }
    return std::make_shared<artifact const>(std::move(r));
  });
  return all;
}

std::vector<datum> global_call_on_data(
    artifact const& own, std::span<void* const> contexts, std::span<datum const> arguments,
    global_context const* last) {
  if (last == nullptr) return own.run().run(arguments, contexts.data());
  artifact_in_globals const all = in_globals(own, contexts, last);
  return all.made->run().run(arguments, all.objects.data());
}

} // namespace overdub::detail
