// Host calls of a program's operations. Lowering and compilation look up the functions.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/implementation/execute/native_host.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/type_text.hpp>

#include <string>
#include <utility>
#include <vector>

namespace overdub::execute {

/// The call of an operation `host`. Looks up the function in the registry of the code; if the program itself has the function,
/// adds it to the registry. Throws host_error if the function is missing or has other types. Calls refuse(why), which throws, if
/// the types are not supported.
template <class Refuse>
host_call
host_call_of(ir::program const& p, ir::function const& f, ir::node_id n, code& to, Refuse const& refuse) {
  std::string const name(p.text(f[n].attributes.text()));
  host_call made;
  for (ir::value_id const v : f.operands_of(n)) made.parameters.push_back(f.type_of(v));
  for (ir::value_id const v : f.results_of(n)) made.results.push_back(f.type_of(v));
  auto& known = to.registry.functions;
  auto found = known.find(name);
  if (found == known.end())
    if (ir::host_binding const* const own = p.host(f[n].attributes.text())) {
      for (auto const* const all : {&made.parameters, &made.results})
        for (ir::type const t : *all)
          if (t.rank > highest_native_rank || t.is_function())
            refuse(
                "the native function \"" + name + "\" takes or returns a value of type " + ir::text_of(p, t) +
                "; numbers and arrays of ranks 1 and 2 are supported");
      found = known.emplace(name, bound_function(*own, made.parameters, made.results)).first;
    }
  auto const types = [](std::vector<ir::type> const& all) {
    std::string text;
    for (ir::type const t : all) text += (text.empty() ? "" : ", ") + detail::text_of(t);
    return text;
  };
  std::string const wanted = '(' + types(made.parameters) + ") -> (" + types(made.results) + ')';
  if (found == known.end())
    throw host_error(message(
        "overdub: @%s calls the host function \"%s\" %s, which was not given; add it to the hosts of the "
        "executable: hosts().add(\"%s\", f)",
        std::string(p.text(f.name)).c_str(), name.c_str(), wanted.c_str(), name.c_str()));
  made.callee = &found->second;
  if (found->second.typed &&
      (found->second.parameters != made.parameters || found->second.results != made.results))
    throw host_error(message(
        "overdub: @%s calls the host function \"%s\" as %s, and it was given as (%s) -> (%s)",
        std::string(p.text(f.name)).c_str(), name.c_str(), wanted.c_str(),
        types(found->second.parameters).c_str(), types(found->second.results).c_str()));
  return made;
}

/// The random choice of an operation `sample`. Calls refuse(why), which throws, if the code has no sampler.
template <class Refuse>
sample_call sample_call_of(
    ir::program const& p, ir::function const& f, ir::node_id n, code const& to, Refuse const& refuse) {
  if (!to.registry.sampler)
    refuse("it makes random choices, and has no sampler; give the executable hosts().on_sample(f)");
  auto const& says = f[n].attributes;
  sample_call made;
  made.address = p.text(says.text());
  made.distribution = says.detail == ir::nothing ? "" : p.text(says.detail);
  made.indices = says.count;
  made.result = f.type_of(f.result(n));
  for (ir::value_id const v : f.operands_of(n)) made.parameters.push_back(f.type_of(v));
  made.parameters.erase(
      made.parameters.begin(), made.parameters.begin() + static_cast<std::ptrdiff_t>(made.indices));
  return made;
}

} // namespace overdub::execute
