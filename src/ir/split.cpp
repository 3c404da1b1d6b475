#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/ir/split.hpp>
#include <overdub/ir/walk.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tsl/robin_set.h>
#include <vector>

namespace overdub::ir {
namespace detail {

struct node_hash {
  std::size_t operator()(node_id n) const { return index_of(n) * std::size_t{0x9e3779b97f4a7c15}; }
};

// The captures and results of an outlined part.
struct outline {
  std::vector<node_id> nodes; // of the region itself
  std::vector<value_id> captured;
  std::vector<value_id> outputs;

  outline(function const& f, node_id first, node_id last) {
    for (node_id n = first; n != nothing; n = f[n].next) {
      nodes.push_back(n);
      if (n == last) break;
    }
    if (nodes.empty() || nodes.back() != last)
      refuse("the last operation is not after the first one, in the same region");
    if (f[last].code == op::yield) refuse("a yield stays in its region; end before it");
    tsl::robin_set<node_id, node_hash> moved;
    tsl::robin_set<value_id, value_hash> known; // defined inside, or captured already
    auto enter = [&](node_id n) {
      moved.insert(n);
      for (value_id const v : f.operands_of(n)) {
        if (f.is_literal(v) || !known.insert(v).second) continue;
        if (f.type_of(v).is_accumulator)
          refuse("an accumulator is not passed to functions; take all of its accumulate, or none");
        captured.push_back(v);
      }
      for (value_id const v : f.results_of(n)) known.insert(v);
      for (region_id const r : f.regions_of(n))
        for (value_id const v : f.arguments_of(r)) known.insert(v);
    };
    for (node_id const n : nodes) {
      enter(n);
      for (region_id const r : f.regions_of(n)) walk(f, r, enter);
    }
    for (node_id const n : nodes)
      for (value_id const v : f.results_of(n))
        for (use_id const u : f.uses_of(v))
          if (!moved.contains(f[u].user)) {
            outputs.push_back(v);
            break;
          }
  }

  [[noreturn]] static void refuse(std::string_view why) {
    throw rejected_program(message("overdub: split: %.*s", static_cast<int>(why.size()), why.data()));
  }
};

} // namespace detail

node_id split(cursor& c, node_id first, node_id last, std::string_view name) {
  program& p = c.owner();
  if (p.find(name))
    throw rejected_program(message(
        "overdub: split: the program has a function @%.*s already; give another name",
        static_cast<int>(name.size()), name.data()));
  detail::outline const part(*c, first, last);
  std::vector<type> parameters, results;
  for (value_id const v : part.captured) parameters.push_back(c->type_of(v));
  for (value_id const v : part.outputs) results.push_back(c->type_of(v));

  function_id const made = p.add(name, parameters);
  cursor into(p, made, function::body);
  value_map<value_id> map;
  for (std::uint32_t i = 0; i < part.captured.size(); ++i) {
    value_id const parameter = into->argument(function::body, i);
    into.set_name(parameter, (*c)[part.captured[i]].name);
    map.emplace(part.captured[i], parameter);
  }
  for (node_id const n : part.nodes) into.clone(c.id(), n, map);
  std::vector<value_id> yielded;
  for (value_id const v : part.outputs) yielded.push_back(map.at(v));
  into.yield(yielded);
  p[made].results = results;

  c.to_before(first);
  node_id const call = c.insert(op::call, part.captured, results, attributes::of(made));
  for (std::uint32_t i = 0; i < part.outputs.size(); ++i) c.substitute(part.outputs[i], c->result(call, i));
  for (std::size_t i = part.nodes.size(); i-- > 0;) c.erase(part.nodes[i]);
  return call;
}

} // namespace overdub::ir
