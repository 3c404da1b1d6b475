#include <overdub/implementation/ir/dependents.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/models/function_prefix.hpp>
#include <overdub/models/sites.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace overdub::models {
namespace detail {

/// Inlines the functions that make choices, callees first.
class choice_inliner {
public:
  explicit choice_inliner(ir::program& p)
      : p_(p), calls_(p),
        makes_choices_(ir::functions_with(
            p, calls_, [](ir::function const& f, ir::node_id n) { return f[n].code == ir::op::sample; })) {}

  void run() {
    for (ir::function_id const f : calls_.order()) {
      reject_function_values(f);
      for (ir::cursor c(p_, f); c.next();) {
        if (c.code() != ir::op::call) continue;
        ir::function_id const callee = (*c)[c.node()].attributes.callee();
        if (!makes_choices(callee)) continue;
        if (calls_.is_recursive(callee)) reject_recursion(callee);
        inline_call(c, callee);
      }
    }
  }

private:
  bool makes_choices(ir::function_id f) const { return makes_choices_[index_of(f)]; }
  [[noreturn]] void reject_recursion(ir::function_id f) const {
    throw model_error(message(
        "overdub: @%s makes random choices and calls itself, so that it is not known how many choices there "
        "are; write it as a loop",
        std::string(p_.name_of(f)).c_str()));
  }
  void reject_function_values(ir::function_id f) const {
    ir::walk(p_[f], ir::function::body, [&](ir::node_id n) {
      if (p_[f][n].code == ir::op::closure && makes_choices(p_[f][n].attributes.callee()))
        throw model_error(message(
            "overdub: @%s makes random choices, and becomes a function value in @%s: it is not known where "
            "it "
            "is called; call it itself",
            std::string(p_.name_of(p_[f][n].attributes.callee())).c_str(),
            std::string(p_.name_of(f)).c_str()));
    });
  }

  void inline_call(ir::cursor& c, ir::function_id callee) {
    ir::value_map<ir::value_id> map;
    ir::node_id const call = c.node();
    for (std::uint32_t i = 0; i < p_[callee].parameters().size(); ++i)
      map.emplace(p_[callee].argument(ir::function::body, i), c->operand(call, i));
    std::vector<ir::node_id> originals;
    for (ir::node_id const n : p_[callee].nodes_of(ir::function::body)) originals.push_back(n);
    ir::node_id const last = originals.back();
    originals.pop_back();
    std::string_view name = p_.name_of(callee);
    if (std::size_t const slash = name.rfind("/#"); slash != name.npos)
      name = name.substr(0, slash + 1); // a number follows the name where the function has several signatures
    std::string const prefix(name.ends_with('/') ? name : "");
    std::vector<ir::value_id> const indices = ir::enclosing_indices(*c, (*c)[call].parent);
    for (ir::node_id const n : originals) {
      ir::node_id const made = c.clone(callee, n, map);
      std::vector<ir::node_id> samples;
      auto const note = [&](ir::node_id m) {
        if ((*c)[m].code == ir::op::sample) samples.push_back(m);
      };
      note(made);
      for (ir::region_id const r : c->regions_of(made)) ir::walk(*c, r, note);
      for (ir::node_id const m : samples) extend_address(c, m, prefix, indices);
    }
    std::vector<ir::value_id> results;
    for (ir::value_id const v : p_[callee].operands_of(last)) {
      if (auto const at = map.find(v); at != map.end())
        results.push_back(at->second);
      else
        results.push_back(c.literal(p_[callee].type_of(v), p_[callee].bits_of(v)));
    }
    c.replace(call, results);
  }
  void extend_address(
      ir::cursor& c, ir::node_id n, std::string const& prefix, std::vector<ir::value_id> const& indices) {
    ir::attributes& a = c.attributes_of(n);
    if (!prefix.empty()) a.subject = index_of(p_.intern(prefix + std::string(p_.text(a.text()))));
    if (indices.empty()) return;
    std::vector<ir::value_id> operands = indices;
    for (ir::value_id const v : c->operands_of(n)) operands.push_back(v);
    c.set_operands(n, operands);
    c.attributes_of(n).count = static_cast<std::uint16_t>(c.attributes_of(n).count + indices.size());
  }
  ir::program& p_;
  ir::call_components calls_;
  std::vector<bool> makes_choices_; // by function
};

/// Finds the sites of a program whose entry has all operations `sample`.
class site_finder {
public:
  explicit site_finder(model_program& m) : m_(m), f_(m.function()) {}

  void run() {
    std::vector<ir::node_id> samples;
    std::vector<ir::value_id> choices;
    ir::walk(f_, ir::function::body, [&](ir::node_id n) {
      if (f_[n].code != ir::op::sample) return;
      samples.push_back(n);
      choices.push_back(f_.result(n));
    });
    depends_on_choices_ = dependents_of({.values = choices});
    for (ir::node_id const n : samples) add_site(n);
    for (site& s : m_.sites)
      s.is_conditional = s.is_conditional && (s.is_resized || !is_always_made(s, ir::function::body));
    for (ir::value_id const v : f_.parameters()) {
      affected_counts all{counted_site(dependents_of({.values = {&v, 1}})), {}};
      if (f_.type_of(v).rank > 0) all.size = counted_site(dependents_of({.values = {}, .sizes = {&v, 1}}));
      m_.arguments.push_back(all);
    }
  }

private:
  // What depends on values, with the elements of arrays, and on sizes of arrays. A choice depends on nothing else.
  ir::dependents dependents_of(ir::dependents::sources const& from) const {
    return {f_, from, {.has_control = true, .has_sizes = true, .passes = [&](ir::node_id n) {
                         return f_[n].code != ir::op::sample;
                       }}};
  }
  // A site whose number of choices, or presence, depends on these values.
  std::optional<std::uint32_t> counted_site(ir::dependents const& by) const {
    for (std::uint32_t s = 0; s < m_.sites.size(); ++s)
      for (ir::node_id const n : m_.sites[s].nodes) {
        bool has_loop = m_.sites[s].type.rank > 0;
        for (auto const around : ir::enclosing_regions(f_, n)) {
          bool const is_branch = ir::selects_region(f_[around.owner].code);
          if ((has_loop || !is_branch) && by.of(f_.operand(around.owner, 0))) return s;
          has_loop = has_loop || !is_branch;
        }
      }
    return {};
  }
  void add_site(ir::node_id n) {
    site s;
    s.address = m_.program.text(f_[n].attributes.text());
    s.type = f_.type_of(f_.result(n));
    s.nodes.push_back(n);
    if (s.address.find_first_of("[]") != std::string::npos)
      reject(s.address, "has brackets in its name; indices are those of the enclosing maps and loops");
    if (s.address.ends_with('/'))
      reject(
          s.address, "has a name that ends in \"/\", which marks a prefix of addresses; rename the choice");
    std::vector<ir::value_id> const indices = ir::enclosing_indices(f_, f_[n].parent);
    bool has_loop = false; // between the site and the region
    for (auto const around : ir::enclosing_regions(f_, n)) {
      ir::op const enclosing = f_[around.owner].code;
      if (ir::is_counted(enclosing)) {
        has_loop = true;
        s.has_random_count = s.has_random_count || depends_on_choices_->of(f_.operand(around.owner, 0));
      } else if (ir::selects_region(enclosing)) {
        s.is_conditional = true;
        bool const is_decided = depends_on_choices_->of(f_.operand(around.owner, 0)); // by choices
        s.is_resized = s.is_resized || (has_loop && is_decided);
        s.varies_in_size = s.varies_in_size || (s.type.rank > 0 && is_decided);
      } else
        reject(
            s.address,
            "is nested in an operation \"" + std::string(ir::name_of(enclosing)) +
                "\", whose iterations have no addresses; choices may be nested in maps, loops and branches");
    }
    if (indices.size() + s.type.rank > std::size_t{ir::max_rank})
      reject(s.address, "is nested in more maps and loops than an array has axes");
    s.index_count = static_cast<std::uint32_t>(indices.size());
    bool same = f_[n].attributes.count == indices.size();
    for (std::uint32_t k = 0; same && k < indices.size(); ++k) same = f_.operand(n, k) == indices[k];
    if (!same)
      reject(
          s.address,
          "has indices that differ from those of the enclosing maps and loops; sample it with these");
    if (auto const known = m_.find(s.address))
      merge(m_.sites[*known], s);
    else
      m_.sites.push_back(std::move(s));
  }
  // Operations of one address are mutually exclusive, and have one type and number of indices.
  void merge(site& known, site const& s) const {
    for (ir::node_id const other : known.nodes)
      if (!are_exclusive(other, s.nodes[0]))
        reject(
            s.address,
            "is sampled twice; give each choice an address of its own, or call its function within "
            "a name: cx(overdub::within<\"left\">(f), ...)");
    if (known.type != s.type || known.index_count != s.index_count)
      reject(s.address, "is sampled in two branches, with different types or numbers of indices");
    known.is_resized = known.is_resized || s.is_resized;
    known.has_random_count = known.has_random_count || s.has_random_count;
    known.varies_in_size = known.varies_in_size || s.varies_in_size;
    known.nodes.push_back(s.nodes[0]);
  }
  // Whether each execution of a region makes a choice of a site: by itself, in an iteration, or in both branches of an `if`.
  bool is_always_made(site const& s, ir::region_id r) const {
    for (ir::node_id const n : f_.nodes_of(r)) {
      if (std::ranges::find(s.nodes, n) != s.nodes.end()) return true;
      bool made = f_[n].region_count > 0;
      for (ir::region_id const inner : f_.regions_of(n)) made = made && is_always_made(s, inner);
      if (made) return true;
    }
    return false;
  }
  // Whether two operations are nested in different branches of one `if`.
  bool are_exclusive(ir::node_id a, ir::node_id b) const {
    for (auto const around_b : ir::enclosing_regions(f_, b))
      for (auto const around_a : ir::enclosing_regions(f_, a))
        if (around_a.owner == around_b.owner)
          return ir::selects_region(f_[around_a.owner].code) && around_a.region != around_b.region;
    return false;
  }
  [[noreturn]] void reject(std::string const& address, std::string const& why) const {
    throw model_error(
        message("overdub: @%s: the choice \"%s\" %s", name().c_str(), address.c_str(), why.c_str()));
  }
  std::string name() const { return std::string(m_.program.name_of(m_.program.entry)); }

  model_program& m_;
  ir::function const& f_;
  std::optional<ir::dependents> depends_on_choices_;
};

// The function of these parameter types with a name, or with the name and the suffix of an overload, "#2".
inline ir::function_id
function_of(ir::program const& p, std::string const& name, std::span<ir::type const> parameters) {
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    ir::function_id const f{i};
    if (p.is_erased(f)) continue;
    std::string_view called = p.name_of(f);
    if (!called.starts_with(name) || (called.size() > name.size() && called[name.size()] != '#')) continue;
    auto const own = p[f].parameters();
    bool same = own.size() == parameters.size();
    for (std::size_t k = 0; same && k < own.size(); ++k) same = p[f].type_of(own[k]) == parameters[k];
    if (same) return f;
  }
  return ir::nothing;
}

} // namespace detail

model_program model_program_of(ir::program p) {
  model_program m{std::move(p), {}, {}};
  detail::choice_inliner(m.program).run();
  detail::site_finder(m).run();
  return m;
}

choice_parts parts_of(ir::program const& p, ir::function_id f, ir::node_id n) {
  ir::function const& in = p[f];
  choice_parts all;
  std::vector<ir::type> types{in.type_of(in.result(n))};
  for (std::uint32_t k = in[n].attributes.count; k < in[n].operand_count; ++k) {
    all.parameters.push_back(in.operand(n, k));
    types.push_back(in.type_of(in.operand(n, k)));
  }
  std::string const distribution(
      in[n].attributes.detail == ir::nothing ? "" : p.text(in[n].attributes.detail));
  all.log_density = detail::function_of(p, std::string(function_prefix::log_density) + distribution, types);
  all.constrain = detail::function_of(p, std::string(function_prefix::constrain) + distribution, types);
  all.unconstrain = detail::function_of(p, std::string(function_prefix::unconstrain) + distribution, types);
  all.bounds = detail::function_of(
      p, std::string(function_prefix::bounds) + distribution, std::span(types).subspan(1));
  if (all.log_density == ir::nothing)
    throw model_error(message(
        "overdub: the choice \"%s\" has the distribution \"%s\", and the program has no function "
        "@\"log_density of %s\" for it",
        std::string(p.text(in[n].attributes.text())).c_str(), distribution.c_str(), distribution.c_str()));
  std::string text;
  for (std::size_t k = 1; k < types.size(); ++k) text += (k > 1 ? ", " : "") + ir::text_of(p, types[k]);
  if (auto const name = p.find_symbol(std::string(function_prefix::draw) + distribution + '(' + text + ')'))
    if (ir::host_binding const* const known = p.host(*name)) all.draw = *known;
  return all;
}

} // namespace overdub::models
