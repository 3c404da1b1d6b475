#include "disk_files.hpp"
#include "linking.hpp"
#include "program.hpp"
#include "program_key.hpp"
#include "runtime.hpp"
#include "thunks.hpp"

#include <overdub/implementation/execute/lower.hpp>
#include <overdub/ir/verify.hpp>

#include <mutex>

namespace overdub::jit::detail {
namespace {

// The metadata of code, without compiling it.
std::shared_ptr<execute::code> frame_of(
    ir::program const& p, ir::function_id id, std::uint32_t thunks, execute::host_registry const& hosts) {
  auto made = std::make_shared<execute::code>();
  made->registry = hosts;
  made->thunks = thunks;
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
  return made;
}

// The program for the interpreter, lowered on first use.
std::function<execute::code const&()>
interpreted(ir::program const& p, ir::function_id id, execute::host_registry const& hosts) {
  struct lowered_once {
    ir::program program;
    ir::function_id entry;
    execute::host_registry hosts;
    std::once_flag once{};
    std::shared_ptr<execute::code const> code{};
  };
  auto const all = std::shared_ptr<lowered_once>(new lowered_once{p, id, hosts});
  return [all]() -> execute::code const& {
    std::call_once(all->once, [&] { all->code = execute::lower(all->program, all->entry, all->hosts); });
    return *all->code;
  };
}

// "file.cpp:12" for each function with a source location.
symbol_places places_in(ir::program const& p) {
  symbol_places all;
  for (ir::function const& f : p.functions) {
    if (f.name == ir::nothing || f.place == ir::nothing) continue;
    auto const& at = p[f.place];
    all["overdub." + std::string(p.text(f.name))] =
        std::string(p.text(at.file)) + ':' + std::to_string(at.line);
  }
  return all;
}

void link_into(execute::code& to, ir::program const& p, std::span<char const> object, options const& o) {
  symbol_places places;
  if (o.debug) places = places_in(p);
  linked_code linked = link(object, o.debug ? &places : nullptr);
  to.compiled = reinterpret_cast<void (*)(std::byte*, execute::machine*)>(linked.entry);
  to.target = linked.target;
  if (linked.program != nullptr) *static_cast<execute::code const**>(linked.program) = &to;
  to.machine_code = std::move(linked.owner);
}

// Loads code from the disk cache; null if there is none, or if it cannot be used.
std::shared_ptr<execute::code const> restored(
    machine_code_files& files, program_key const& key, ir::program const& given, ir::program const& p,
    ir::function_id id, std::uint32_t thunks, execute::host_registry const& hosts, options const& o) {
  auto const found = files.find(key.text);
  if (!found) return nullptr;
  auto made = frame_of(p, id, thunks, hosts);
  bool looks_ahead = false;
  if (!read_parts(found->parts, *made, looks_ahead, p, key.functions)) {
    files.reject(key.text, "what belongs to its machine code is not as it must be");
    return nullptr;
  }
  if (looks_ahead) made->interpreted = interpreted(given, id, hosts);
  try {
    link_into(*made, p, found->object, o);
  } catch (no_code_memory const&) {
    throw;
  } catch (not_executable const& e) {
    files.reject(key.text, e.what());
    return nullptr;
  }
  files.count_hit();
  return made;
}

bool is_cacheable(module_callback const& c) { return !c.run || !c.name.empty(); }

} // namespace

std::shared_ptr<execute::code const>
compile(ir::program const& given, ir::function_id id, execute::host_registry const& hosts, options const& o) {
  if (index_of(id) >= given.functions.size() || given.is_erased(id))
    throw not_executable(message("overdub: there is no such function to compile; set the program's entry, "
                                 "or name another function"));
  ir::verify(given);
  if (!ir::is_runnable(given.math))
    throw not_executable(message(
        "overdub: @%s cannot be compiled: %s", std::string(given.name_of(id)).c_str(), ir::not_consistent));
  auto const changed = with_thunks(given, id);
  ir::program const& p = changed ? changed->program : given;
  std::uint32_t const thunks = changed ? changed->thunks : 0;
  std::optional<program_key> key;
  if (o.cache != nullptr && is_cacheable(o.before_optimisation) && is_cacheable(o.after_optimisation)) {
    key = key_of(p, id, o);
    if (auto known = restored(machine_code_files::of(*o.cache), *key, given, p, id, thunks, hosts, o))
      return known;
  }
  auto made = frame_of(p, id, thunks, hosts);
  program_state compiled(p, id, *made, o);
  compile_program(compiled, id);
  if (compiled.needs.interpreter) made->interpreted = interpreted(given, id, hosts);
  optimise(*compiled.module, o, compiled.target.width);
  std::vector<char> const object = object_of(*compiled.module, o, compiled.target.width);
  link_into(*made, p, object, o);
  if (key)
    if (auto const parts =
            write_parts(*made, p, key->functions, compiled.hosts.calls(), compiled.hosts.samples()))
      machine_code_files::of(*o.cache).store(key->text, object, *parts);
  return made;
}

std::string llvm_text(
    ir::program const& given, ir::function_id id, execute::host_registry const& hosts, options const& o) {
  ir::verify(given);
  auto const changed = with_thunks(given, id);
  ir::program const& p = changed ? changed->program : given;
  auto made = frame_of(p, id, 0, hosts);
  program_state compiled(p, id, *made, o);
  compile_program(compiled, id);
  optimise(*compiled.module, o, compiled.target.width);
  return text_of(*compiled.module);
}

} // namespace overdub::jit::detail
