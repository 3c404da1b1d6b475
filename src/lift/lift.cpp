// The lifter: plans all functions of a module, and emits those that can be lifted.
#include "allocator.hpp"
#include "emit.hpp"
#include "entries.hpp"
#include "invalid.hpp"
#include "native_calls.hpp"
#include "plan.hpp"
#include "planner.hpp"
#include "prepare.hpp"
#include "read.hpp"
#include "values.hpp"

#include <overdub/lift.hpp>
#include <overdub/pass/dce.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub {
namespace lifting {
namespace {

// The name of an array of memory.
std::string name_of(element_type const& cell) {
  return cell.type == ir::f64   ? "doubles"
         : cell.type == ir::f32 ? "floats"
                                : "int" + std::to_string(cell.bits) + "s";
}

std::vector<ir::type> parameters_of(function_plan const& f) {
  std::vector<ir::type> all;
  if (f.memory.is_linear)
    for (object const& o : f.memory.objects) all.push_back(o.type());
  std::size_t next = 0;
  for (llvm::Argument const& a : f.function->args()) {
    bool const is_array = a.getType()->isPointerTy() && !f.memory.is_linear;
    all.push_back(is_array ? f.memory.objects[next++].type() : scalar_type(a.getType()));
  }
  return all;
}

// Adds the functions of a plan to a program, without their bodies.
void declare(ir::program& p, module_plan& plan, std::vector<entry>& entries) {
  std::set<std::string> names;
  for (function_plan& f : plan.functions) {
    std::string const mangled = f.function->getName().str(), suffix = f.memory.is_linear ? " in memory" : "";
    std::string name = llvm::demangle(mangled) + suffix;
    if (!names.insert(name).second) names.insert(name = mangled + suffix);
    f.id = p.add(name, parameters_of(f));
    std::vector<ir::type>& results = p[f.id].results;
    for (llvm::Type const* t : result_types(*f.function)) results.push_back(scalar_type(t));
    for (object const& o : f.memory.objects)
      if (is_returned(o)) results.push_back(o.type());
    if (llvm::DISubprogram const* const s = f.function->getSubprogram())
      p[f.id].place = p.add_place(s->getFilename().str(), s->getLine());
    ir::cursor c(p, f.id, ir::function::body);
    auto const first = static_cast<std::uint32_t>(f.memory.is_linear ? f.memory.objects.size() : 0);
    for (llvm::Argument const& a : f.function->args())
      if (a.hasName())
        c.set_name(c->argument(ir::function::body, first + a.getArgNo()), p.intern(a.getName().str()));
    for (std::uint32_t k = 0; k < first; ++k)
      c.set_name(c->argument(ir::function::body, k), p.intern(name_of(f.memory.objects[k].element)));
  }
  for (entry& e : entries) {
    std::string const mangled = plan.functions[e.function].function->getName().str();
    std::string name = llvm::demangle(mangled);
    if (!names.insert(name).second) names.insert(name = mangled);
    declare_entry(p, plan, e, name);
  }
}

// The function of the program that has arrays as parameters, and which of these are also results.
void describe(lifted_symbol& s, function_plan const& f, ir::program const& p) {
  std::size_t next = 0;
  for (llvm::Argument const& a : f.function->args())
    s.returned.push_back(a.getType()->isPointerTy() && is_returned(f.memory.objects[next++]));
  s.function = p.name_of(f.id);
}
void describe(lifted_symbol& s, entry const& e, ir::program const& p) {
  for (entry_parameter const& parameter : e.parameters)
    s.returned.push_back(parameter.is == entry_parameter::kind::array && parameter.array.is_written);
  s.function = p.name_of(e.id);
}

// Whether a symbol is of the standard library.
bool is_of_library(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return false;
  symbol.remove_prefix(2);
  if (symbol.starts_with("NK"))
    symbol.remove_prefix(2);
  else if (symbol.starts_with("N"))
    symbol.remove_prefix(1);
  return symbol.starts_with("St") || symbol.starts_with("Sa") || symbol.starts_with("9__gnu_cxx");
}

std::vector<lifted_symbol> symbols_of(
    llvm::Module const& m, module_plan const& plan, std::vector<entry> const& entries, ir::program const& p) {
  llvm::DenseMap<llvm::Function const*, entry const*> entry_of;
  for (entry const& e : entries) entry_of[plan.functions[e.function].function] = &e;
  std::vector<lifted_symbol> all;
  for (llvm::Function const& f : m) {
    if (f.isDeclaration() || f.hasLocalLinkage() || f.hasAvailableExternallyLinkage()) continue;
    std::string const symbol = f.getName().str();
    if (is_of_library(symbol)) continue;
    lifted_symbol s{symbol, llvm::demangle(symbol), {}, {}};
    function_plan const* const with_arrays = plan.of(&f);
    entry const* const e = entry_of.lookup(&f);
    if (f.isInterposable()) {
      // A weak definition: another one may replace it.
    } else if (with_arrays && !p.is_erased(with_arrays->id))
      describe(s, *with_arrays, p);
    else if (e && !p.is_erased(e->id))
      describe(s, *e, p);
    all.push_back(std::move(s));
  }
  return all;
}

// The native functions that functions of the program call, in the order of the module.
std::vector<called_native> natives_of(llvm::Module const& m, module_plan const& plan, ir::program const& p) {
  llvm::DenseSet<llvm::Function const*> called;
  for (function_plan const& f : plan.functions) {
    if (p.is_erased(f.id)) continue;
    for (llvm::Instruction const& i : llvm::instructions(*f.function))
      if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i); call && is_native_call(*call))
        called.insert(call->getCalledFunction());
  }
  std::vector<called_native> all;
  for (llvm::Function const& f : m)
    if (called.contains(&f)) all.push_back(describe_native(f));
  return all;
}

} // namespace
} // namespace lifting

std::string text_of(refused_function const& f) {
  std::string text = f.name;
  if (!f.file.empty()) text += " (" + f.file + ':' + std::to_string(f.line) + ')';
  return text + ": " + f.construct + ": " + f.why + "; " + f.instead;
}

lift_result lift(std::string_view module, lift_options const& o) { return lift(std::span(&module, 1), o); }

lift_result lift(std::span<std::string_view const> modules, lift_options const& o) {
  lifting::read_module const read = lifting::read(modules, o);
  lifting::prepare(*read.module);
  lifting::planned_module planned = lifting::plan_module(*read.module, o);
  lifting::module_plan& plan = planned.plan;
  lift_result result{{}, std::move(planned.refused), {}, {}, {}};
  std::vector<lifting::entry> entries = lifting::find_entries(plan);
  lifting::declare(result.program, plan, entries);
  if (!plan.in_memory.empty()) lifting::add_allocator(result.program, plan.layout, plan);
  std::map<ir::function_id, std::string> failed;
  auto const guarded = [&](ir::function_id f, auto const& emit) {
    try {
      emit();
    } catch (error const& e) {
      failed.emplace(f, e.what());
    }
  };
  for (lifting::function_plan const& f : plan.functions)
    guarded(f.id, [&] { lifting::emit(result.program, plan, f); });
  for (lifting::entry const& e : entries)
    guarded(e.id, [&] { lifting::emit_entry(result.program, plan, e); });
  std::ranges::move(
      lifting::erase_invalid(result.program, std::move(failed)), std::back_inserter(result.refused));
  for (lifting::element_type const& cell : plan.layout.cells)
    if (!plan.in_memory.empty()) result.memory.push_back({cell.type, cell.bits});
  result.symbols = lifting::symbols_of(*read.module, plan, entries, result.program);
  result.natives = lifting::natives_of(*read.module, plan, result.program);
  pass::dce(result.program);
  return result;
}

lift_result lift_files(std::span<std::string const> paths, lift_options const& o) {
  std::vector<std::string> all;
  for (std::string const& path : paths) {
    std::ifstream file(path, std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (!file.good() && all.back().empty())
      throw lift_error(message("overdub: %.200s cannot be read: %s", path.c_str(), std::strerror(errno)));
  }
  std::vector<std::string_view> const modules(all.begin(), all.end());
  return lift(modules, o);
}
lift_result lift_file(std::string const& path, lift_options const& o) {
  return lift_files(std::span(&path, 1), o);
}

} // namespace overdub
