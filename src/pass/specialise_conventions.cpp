#include <overdub/implementation/pass/reabstraction.hpp>
#include <overdub/pass/dce.hpp>
#include <overdub/pass/ir_names.hpp>
#include <overdub/pass/specialise_conventions.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::pass {
namespace detail {

class convention_specialising {
public:
  convention_specialising(program& p, std::size_t limit) : p_(p), limit_(limit) { find_fitting(); }

  std::size_t run() {
    for (std::uint32_t i = 0; i < p_.functions.size(); ++i) open_.push_back(function_id{i});
    while (!open_.empty()) {
      function_id const f = open_.back();
      open_.pop_back();
      if (!p_.is_erased(f)) calls_in(f);
    }
    if (changes_ > 0) (void)drop_unreached_functions(p_);
    return changes_;
  }

private:
  using parameter = std::pair<std::uint32_t, std::uint32_t>; // function and index

  // ---- the parameters whose calling convention can change

  static bool names_function(op code) { return code == op::call || code == op::closure; }
  bool fits(std::uint32_t f, std::uint32_t i) const { return fits_[f][i]; }
  // An optimistic fixed point: initially all parameters of small functions fit that are function values; removes each parameter
  // with a use that does not fit, until no more are removed.
  void find_fitting() {
    for (function const& f : p_.functions) {
      std::size_t size = 0;
      ir::walk(f, function::body, [&](node_id) { ++size; });
      fits_.emplace_back();
      for (value_id const v : f.parameters())
        fits_.back().push_back(size <= limit_ && f.type_of(v).is_function());
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t i = 0; i < p_.functions.size(); ++i)
        for (std::uint32_t k = 0; k < fits_[i].size(); ++k)
          if (fits_[i][k] && !uses_fit(p_.functions[i], k)) {
            fits_[i][k] = 0;
            changed = true;
          }
    }
  }
  bool uses_fit(function const& f, std::uint32_t i) const {
    for (use_id const u : f.uses_of(f.argument(function::body, i))) {
      node_id const n = f[u].user;
      std::uint32_t const operand = index_of(u) - f[n].first_operand;
      bool const is_fit = f[n].code == op::reabstract || (f[n].code == op::apply && operand == 0) ||
                          (names_function(f[n].code) && fits(f[n].attributes.subject, operand));
      if (!is_fit) return false;
    }
    return true;
  }

  // ---- copies

  void calls_in(function_id id) {
    for (cursor c(p_, id); c.next();) {
      if (!names_function(c.code())) continue;
      for (std::uint32_t i = 0; i < (*c)[c.node()].operand_count; ++i) {
        function_id const callee = (*c)[c.node()].attributes.callee();
        value_id const given = c.operand(i), first = before_reabstraction(*c, given);
        if (first == given || !fits(index_of(callee), i)) continue;
        if (ir::inner_differences(p_, c->type_of(first), c->type_of(given)) != 0) continue;
        c.attributes_of(c.node()).subject = index_of(copy_for(callee, i, c->type_of(first)));
        c.set_operand(c.node(), i, first);
        drop_unused(c, given);
        ++changes_;
      }
    }
  }
  function_id copy_for(function_id f, std::uint32_t i, type t) {
    type const whole = p_[f].type_of(p_[f].argument(function::body, i));
    if (whole == t) return f;
    auto const [at, added] = copies_.try_emplace({index_of(f), i, t.index}, nothing);
    if (!added) return at->second;
    function_id const made{static_cast<std::uint32_t>(p_.functions.size())};
    at->second = made;
    function copy = p_[f];
    copy.name = new_name(p_.name_of(f));
    p_.functions.push_back(std::move(copy));
    fits_.push_back(std::vector<std::uint8_t>(fits_[index_of(f)]));
    retype_parameter(made, i, t);
    open_.push_back(made);
    return made;
  }
  // Changes the type of a parameter to t. Its reabstractions to t are removed. Where it is passed to a callee, a reabstraction
  // to its original type is inserted.
  void retype_parameter(function_id id, std::uint32_t i, type t) {
    cursor c(p_, id, function::body);
    value_id const v = c->argument(function::body, i);
    type const before = c->type_of(v);
    std::vector<std::pair<node_id, std::uint32_t>> passed_on;
    std::vector<node_id> same;
    for (use_id const u : c->uses_of(v)) {
      node_id const n = (*c)[u].user;
      if (names_function((*c)[n].code)) passed_on.push_back({n, index_of(u) - (*c)[n].first_operand});
      if ((*c)[n].code == op::reabstract && c->type_of(c->result(n)) == t) same.push_back(n);
    }
    c.set_type(v, t);
    for (node_id const n : same) c.replace(n, cursor::values(&v, 1));
    for (auto const& [n, operand] : passed_on) {
      c.to_before(n);
      c.set_place((*c)[n].place);
      c.set_operand(n, operand, reabstracted(c, v, before));
    }
  }
  symbol new_name(std::string_view of) {
    std::string const base = std::string(of) + ".as";
    for (int k = 1;; ++k)
      if (std::string const name = base + std::to_string(k); !p_.find(name)) return p_.intern(name);
  }

  program& p_;
  std::size_t limit_;
  std::vector<std::vector<std::uint8_t>> fits_; // by function and parameter
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, function_id> copies_;
  std::vector<function_id> open_;
  std::size_t changes_ = 0;
};

} // namespace detail

std::size_t specialise_conventions(program& p, std::size_t limit) {
  if (p.entry == nothing || !has_reabstractions(p)) return 0;
  return detail::convention_specialising(p, limit).run();
}

} // namespace overdub::pass
