#include <overdub/implementation/pass/defunctionalise/writer.hpp>
#include <overdub/ir/function_types.hpp>
#include <overdub/pass/dce.hpp>
#include <overdub/pass/defunctionalise.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace overdub::pass {
namespace detail {

// Throws no_representation if a parameter or a result of the entry holds function values, if they are passed to or returned by a native
// function or a random choice, if a value has no representation, and if no function reaches an `apply` whose result has no literals.
inline void check_function_values(program const& p, representations& known) {
  function_flow const& flow = known.flow();
  auto const refuse = [&](function_id f, std::string const& why, place_id at) {
    throw no_representation{"@" + std::string(p.name_of(f)) + ": " + why, at};
  };
  function const& entry = p[p.entry];
  for (value_id const v : entry.parameters())
    if (holds_functions(entry.type_of(v))) refuse(p.entry, "the entry takes a function value", entry.place);
  for (type const t : entry.results)
    if (holds_functions(t)) refuse(p.entry, "the entry returns a function value", entry.place);
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    function const& f = p.functions[i];
    function_id const id{i};
    ir::walk(f, function::body, [&](node_id n) {
      function::node const& node = f[n];
      bool const leaves = node.code == op::host || node.code == op::sample;
      auto const check = [&](value_id v) {
        if (!holds_functions(f.type_of(v))) return;
        if (leaves)
          refuse(
              id,
              "a function value is given to \"" + std::string(p.text(node.attributes.text())) +
                  "\", or comes from it",
              node.place);
        known.check(f.type_of(v), flow.of(id, v));
      };
      for (value_id const v : f.operands_of(n)) check(v);
      for (value_id const v : f.results_of(n)) check(v);
      for (region_id const r : f.regions_of(n))
        for (value_id const v : f.arguments_of(r)) check(v);
      if (node.code == op::apply && flow.of(id, f.operand(n, 0)).empty())
        for (value_id const v : f.results_of(n))
          if (type const t = f.type_of(v); t.is_scalar() && !t.is_function() && !t.is_literal())
            refuse(
                id,
                "no function reaches this apply, and its result, a random key or an object of the host, has "
                "no literal",
                node.place);
    });
    for (value_id const v : f.parameters()) known.check(f.type_of(v), flow.of(id, v));
    for (std::uint32_t k = 0; k < f.results.size(); ++k) known.check(f.results[k], flow.of_result(id, k));
  }
}

// For each function of the cycle that several closures refer to, each closure but the first gets a copy of the function: closures of one
// function have one kind, and those of copies have kinds of their own. Returns whether a function was copied.
inline bool separate(program& p, std::vector<closure_kind> const& cycle) {
  bool changed = false;
  for (closure_kind const& kind : cycle) {
    std::vector<std::pair<function_id, node_id>> closures;
    for (std::uint32_t i = 0; i < p.functions.size(); ++i)
      ir::walk(p.functions[i], function::body, [&](node_id n) {
        function::node const& node = p.functions[i][n];
        if (node.code == op::closure && node.attributes.callee() == kind.callee &&
            node.operand_count == kind.captured)
          closures.emplace_back(function_id{i}, n);
      });
    for (std::size_t i = 1; i < closures.size(); ++i) {
      function copy = p[kind.callee];
      std::string name;
      for (int k = 1; name.empty() || p.find(name); ++k)
        name = std::string(p.name_of(kind.callee)) + "." + std::to_string(k);
      copy.name = p.intern(name);
      p.functions.push_back(std::move(copy));
      auto const [f, n] = closures[i];
      cursor(p, f).attributes_of(n).subject = static_cast<std::uint32_t>(p.functions.size() - 1);
      changed = true;
    }
  }
  return changed;
}
inline std::size_t size_of(program const& p) {
  std::size_t size = 0;
  for (function const& f : p.functions) size += f.node_count();
  return size;
}

inline void note_once(program& p, no_representation const& found) {
  std::string text = found.why + "; the program's function values are not represented as data";
  if (std::none_of(p.notes.begin(), p.notes.end(), [&](ir::note const& n) { return n.text == text; }))
    p.notes.push_back({std::move(text), found.at});
}

} // namespace detail

std::size_t defunctionalise(ir::program& p) {
  if (p.entry == nothing || p.signature_count() == 0) return 0;
  (void)drop_unreached_functions(p);
  if (!ir::any_function_value(p, [](function const&, value_id) { return true; })) return 0;
  program const before = p;
  std::size_t const most = 1000 + 4 * detail::size_of(p);
  constexpr int maximum_rounds = 4;
  std::optional<detail::no_representation> why; // for the program's original functions
  for (int round = 1;; ++round) {
    program const from = p; // with copied functions
    try {
      detail::function_flow const flow(from);
      detail::representations known(flow);
      detail::check_function_values(from, known);
      return detail::data_writer(from, p, known).run();
    } catch (detail::no_representation const& found) {
      if (!why) why = found;
      if (round < maximum_rounds && detail::separate(p, found.cycle) && detail::size_of(p) < most) continue;
      p = before;
      detail::note_once(p, *why);
      return 0;
    }
  }
}

} // namespace overdub::pass
