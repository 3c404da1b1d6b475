// Programs that are corrupted at random places, for tests of the verifier.
#pragma once

#include "catch.hpp"
#include "ir/samples.hpp"

#include <overdub/implementation/ir/literal_table.hpp>
#include <overdub/implementation/ir/program_tables.hpp>
#include <overdub/ir/verify.hpp>

#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::ir {

// Access to the storage, to corrupt it.
struct corruptor {
  static auto& nodes(function& f) { return f.nodes_; }
  static auto& regions(function& f) { return f.regions_; }
  static auto& values(function& f) { return f.values_; }
  static auto& uses(function& f) { return f.uses_; }
  static auto& literals(function& f) { return f.literals_; }
  static auto& literal_of(function& f) { return f.literal_of_.get_or_create(); }
  static auto& texts(program& p) { return p.texts_; }
  static auto& symbol_of(program& p) { return p.tables_.get_or_create().texts; }
  static auto& signatures(program& p) { return p.signatures_; }
  static auto& opaque(program& p) { return p.opaque_; }
  static auto& places(program& p) { return p.places_; }
};

} // namespace overdub::ir

namespace corrupt {

using namespace samples;
using storage = corruptor;

// A program, and random parts of it.
class victim {
public:
  program p;
  function_id f = nothing; // the function of the last draw

  victim(program valid, unsigned seed) : p(std::move(valid)), random_(seed) {}

  function& in() { return p[f]; }
  cursor edit() { return cursor(p, f); }
  std::size_t below(std::size_t n) { return random_() % n; }

  /// Draws one for which `fits(function const&, id)` holds; false if there is none.
  template <class Fits>
  bool node(node_id& n, Fits fits) {
    return draw(n, fits, [](function const& g, auto add) { walk(g, function::body, add); });
  }
  template <class Fits>
  bool value(value_id& v, Fits fits) {
    return draw(v, fits, [](function const& g, auto add) {
      std::vector<bool> erased(g.value_count());
      for (std::uint32_t i = 0; i < g.value_count(); ++i)
        if (!(g.is_result(value_id{i}) && g.is_erased(g.node_of(value_id{i})))) add(value_id{i});
    });
  }
  template <class Fits>
  bool region(region_id& r, Fits fits) {
    return draw(r, fits, [](function const& g, auto add) {
      for (std::uint32_t i = 0; i < g.region_count(); ++i) add(region_id{i});
    });
  }
  bool node(node_id& n) {
    return node(n, [](auto&, auto) { return true; });
  }
  bool value(value_id& v) {
    return value(v, [](auto&, auto) { return true; });
  }
  bool region(region_id& r) {
    return region(r, [](auto&, auto) { return true; });
  }
  bool code(node_id& n, op wanted) {
    return node(n, [=](function const& g, node_id m) { return g[m].code == wanted; });
  }
  /// An operand of some operation.
  bool use(use_id& u) {
    node_id n;
    if (!node(n, [](function const& g, node_id m) { return g[m].operand_count > 0; })) return false;
    u = use_id{in()[n].first_operand + static_cast<std::uint32_t>(below(in()[n].operand_count))};
    return true;
  }

private:
  template <class Id, class Fits, class Each>
  bool draw(Id& drawn, Fits fits, Each each) {
    std::vector<std::pair<function_id, Id>> all;
    for (std::uint32_t i = 0; i < p.functions.size(); ++i)
      each(p.functions[i], [&](Id x) {
        if (fits(std::as_const(p.functions[i]), x)) all.push_back({function_id{i}, x});
      });
    if (all.empty()) return false;
    std::tie(f, drawn) = all[below(all.size())];
    return true;
  }
  std::mt19937 random_;
};

struct corruption {
  std::string name;
  std::function<bool(victim&)> apply; // false: the program has no such part
};

// ---- frequent draws

inline bool is_free(op code) { // its result types are attributes
  return code == op::host || code == op::sample || code == op::convert || code == op::reabstract;
}
inline bool is_computed(function const& f, value_id v) {
  return f.is_result(v) && !is_free(f[f.node_of(v)].code);
}
inline bool is_plain(function const& f, node_id n) { return is_elementwise(f[n].code); }
inline bool has_regions(function const& f, node_id n) { return f[n].region_count > 0; }
inline auto& node_of(victim& x, node_id n) { return storage::nodes(x.in())[index_of(n)]; }
inline auto& value_of(victim& x, value_id v) { return storage::values(x.in())[index_of(v)]; }
inline auto& region_of(victim& x, region_id r) { return storage::regions(x.in())[index_of(r)]; }
inline auto& use_of(victim& x, use_id u) { return storage::uses(x.in())[index_of(u)]; }

// A corruption of one random id: `change` gets its storage.
template <class Change>
corruption of_node(std::string name, Change change) {
  return {name, [=](victim& x) {
            node_id n;
            return x.node(n) && (change(x, n, node_of(x, n)), true);
          }};
}
template <class Fits, class Change>
corruption of_node(std::string name, Fits fits, Change change) {
  return {name, [=](victim& x) {
            node_id n;
            return x.node(n, fits) && (change(x, n, node_of(x, n)), true);
          }};
}
template <class Fits, class Change>
corruption of_value(std::string name, Fits fits, Change change) {
  return {name, [=](victim& x) {
            value_id v;
            return x.value(v, fits) && (change(x, v, value_of(x, v)), true);
          }};
}
template <class Change>
corruption of_region(std::string name, Change change) {
  return {name, [=](victim& x) {
            region_id r;
            return x.region(r) && (change(x, r, region_of(x, r)), true);
          }};
}
template <class Change>
corruption of_use(std::string name, Change change) {
  return {name, [=](victim& x) {
            use_id u;
            return x.use(u) && (change(x, u, use_of(x, u)), true);
          }};
}
template <class Change>
corruption of_code(std::string name, op code, Change change) {
  return of_node(
      name, [=](function const& f, node_id n) { return f[n].code == code; }, change);
}
inline constexpr auto any_value = [](function const&, value_id) { return true; };
inline constexpr auto any_literal = [](function const& f, value_id v) { return f.is_literal(v); };

inline void all_are_reported(std::vector<corruption> const& corruptions) {
  std::vector<program> const valid = all();
  for (corruption const& c : corruptions) {
    int applied = 0;
    for (unsigned seed = 0; seed < 20; ++seed)
      for (std::size_t i = 0; i < valid.size(); ++i) {
        victim x(valid[i], seed);
        if (!c.apply(x)) continue;
        ++applied;
        INFO(c.name << ", in program " << i << ", with seed " << seed);
        REQUIRE_FALSE(faults_of(x.p).empty());
      }
    INFO(c.name);
    CHECK(applied >= 20);
  }
}

} // namespace corrupt
