#include "program.hpp"
#include "runtime.hpp"
#include "thunks.hpp"

#include <overdub/ir/verify.hpp>

namespace overdub::jit::detail {

std::shared_ptr<execute::code const>
compile(ir::program const& p, ir::function_id id, execute::host_registry const& hosts, options const& o) {
  if (index_of(id) >= p.functions.size() || p.is_erased(id))
    throw not_executable(message("overdub: there is no such function to compile; set the program's entry, "
                                 "or name another function"));
  ir::verify(p);
  auto made = std::make_shared<execute::code>();
  made->registry = hosts;
  ir::function const& f = p[id];
  made->name = p.text(f.name);
  made->results = f.results;
  execute::function_code frame;
  frame.frame_bytes = execute::first_parameter;
  for (value_id const v : f.parameters()) {
    made->parameters.push_back(f.type_of(v));
    made->parameter_names.emplace_back(f[v].name == ir::nothing ? "" : p.text(f[v].name));
    frame.frame_bytes += execute::words_of(f.type_of(v)) * execute::word_size;
  }
  made->functions.push_back(std::move(frame));
  made->instructions.push_back({&runtime::run_compiled, 0, 0, 0, 0});

  auto const thunks = with_thunks(p, id);
  if (thunks) made->thunks = thunks->thunks;
  program_compiler compiler(thunks ? thunks->program : p, *made, o);
  compiler.compile(id);
  auto const loaded = load(object_of(*compiler.module, o));
  made->compiled = reinterpret_cast<void (*)(std::byte*, execute::machine*)>(loaded->find("overdub:entry"));
  made->target = loaded->find("overdub:target");
  if (void* const code = loaded->find("overdub:code")) *static_cast<execute::code const**>(code) = made.get();
  made->machine_code = loaded;
  return made;
}

} // namespace overdub::jit::detail
