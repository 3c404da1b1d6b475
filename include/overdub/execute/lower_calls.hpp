// Lowering: calls, function values, and what leaves the program.
#pragma once

#include <overdub/execute/control_handlers.hpp>
#include <overdub/execute/lowering.hpp>
#include <overdub/execute/native_host.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace overdub::execute {

// A call's list: how many words of arguments, they, the words of results.
inline void lowering::lower_call(node_id n) {
  bool const of_value = f_[n].code == ir::op::apply;
  std::vector<offset> list{0};
  for (std::uint32_t k = of_value; k < f_[n].operand_count; ++k) {
    give_count(f_.operand(n, k), n);
    append_words(list, f_.operand(n, k));
  }
  list[0] = static_cast<offset>(list.size() - 1);
  for (value_id const v : f_.results_of(n)) {
    new_home(v);
    append_words(list, v);
  }
  offset const first_result = f_[n].result_count > 0 ? at(f_.result(n)) : 0;
  calls_.push_back(
      of_value
          ? out_.emit(&apply::run, first_result, out_.list(list), at(f_.operand(n, 0)))
          : out_.emit(&call::run, first_result, out_.list(list), shared_.number(f_[n].attributes.callee())));
}

inline void lowering::lower_closure(node_id n) {
  std::vector<offset> list;
  for (value_id const v : f_.operands_of(n)) {
    give_count(v, n);
    append_words(list, v);
  }
  offset const where = new_home(f_.result(n));
  out_.emit(
      &doing<make_closure>::run, where, out_.list(list), shared_.number(f_[n].attributes.callee()),
      static_cast<offset>(list.size()));
}

inline void lowering::lower_host(node_id n) {
  std::string const name(p_.text(f_[n].attributes.text()));
  host_call made;
  for (value_id const v : f_.operands_of(n)) made.parameters.push_back(type_of(v));
  for (value_id const v : f_.results_of(n)) made.results.push_back(type_of(v));
  auto& known = shared_.to.registry.functions;
  auto found = known.find(name);
  if (found == known.end())
    if (ir::host_binding const* const own = p_.host(f_[n].attributes.text())) {
      for (auto const* const all : {&made.parameters, &made.results})
        for (ir::type const t : *all)
          if (t.rank > highest_native_rank || t.is_function())
            refuse(
                "the native function \"" + name + "\" takes or gives a value of type " + ir::text_of(p_, t) +
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
        std::string(p_.text(f_.name)).c_str(), name.c_str(), wanted.c_str(), name.c_str()));
  made.callee = &found->second;
  if (found->second.typed &&
      (found->second.parameters != made.parameters || found->second.results != made.results))
    throw host_error(message(
        "overdub: @%s calls the host function \"%s\" as %s, and it was given as (%s) -> (%s)",
        std::string(p_.text(f_.name)).c_str(), name.c_str(), wanted.c_str(),
        types(found->second.parameters).c_str(), types(found->second.results).c_str()));
  std::vector<offset> list;
  for (value_id const v : f_.operands_of(n)) list.push_back(at(v));
  for (value_id const v : f_.results_of(n)) list.push_back(new_home(v));
  out_.emit(&doing<call_host>::run, 0, out_.list(list), static_cast<offset>(shared_.to.hosts.size()));
  shared_.to.hosts.push_back(std::move(made));
}

inline void lowering::lower_sample(node_id n) {
  if (!shared_.to.registry.sampler)
    refuse("it makes random choices, and nobody answers them; give the executable hosts().on_sample(f)");
  auto const& says = f_[n].attributes;
  sample_call made;
  made.address = p_.text(says.text());
  made.distribution = says.detail == ir::nothing ? "" : p_.text(says.detail);
  made.indices = says.count;
  made.result = type_of(f_.result(n));
  std::vector<offset> list;
  std::size_t k = 0;
  for (value_id const v : f_.operands_of(n)) {
    if (k++ >= made.indices) made.parameters.push_back(type_of(v));
    list.push_back(at(v));
  }
  list.push_back(new_home(f_.result(n)));
  out_.emit(&doing<call_sampler>::run, 0, out_.list(list), static_cast<offset>(shared_.to.samples.size()));
  shared_.to.samples.push_back(std::move(made));
}

inline void lowering::lower_assert(node_id n) {
  out_.emit(&assert_that::run, 0, at(f_.operand(n, 0)), out_.text(p_.text(f_[n].attributes.text())));
}

} // namespace overdub::execute
