// Programs are equal if they differ only in the numbers of functions, values and operations.

#include <overdub/ir/program.hpp>

#include <vector>

namespace overdub::ir {
namespace detail {

class comparison {
public:
  comparison(program const& a, program const& b) : a_(a), b_(b) {}

  bool programs() {
    if (a_.math != b_.math) return false;
    std::vector<function_id> const left = functions_of(a_);
    std::vector<function_id> const right = functions_of(b_);
    if (left.size() != right.size()) return false;
    counterparts_.assign(a_.functions.size(), nothing);
    for (std::size_t i = 0; i < left.size(); ++i) counterparts_[index_of(left[i])] = right[i];
    if (!callees(a_.entry, b_.entry)) return false;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!functions(a_[left[i]], b_[right[i]])) return false;
    return true;
  }

private:
  static std::vector<function_id> functions_of(program const& p) {
    std::vector<function_id> all;
    for (std::uint32_t i = 0; i < p.functions.size(); ++i)
      if (!p.is_erased(function_id{i})) all.push_back(function_id{i});
    return all;
  }
  bool texts(symbol s, symbol t) const {
    if (s == nothing || t == nothing) return s == t;
    return a_.text(s) == b_.text(t);
  }
  bool callees(function_id f, function_id g) const {
    if (f == nothing || g == nothing) return f == g;
    return counterparts_[index_of(f)] == g;
  }
  bool types(type t, type u) const {
    if (t.element != u.element || t.rank != u.rank || t.is_accumulator != u.is_accumulator) return false;
    if (t.element == scalar::opaque) return a_.opaque_name(t) == b_.opaque_name(u);
    if (t.element != scalar::function) return true;
    signature const& s = a_.signature_of(t);
    signature const& r = b_.signature_of(u);
    return s.calls == r.calls && types(s.parameters, r.parameters) && types(s.results, r.results);
  }
  bool types(std::vector<type> const& t, std::vector<type> const& u) const {
    if (t.size() != u.size()) return false;
    for (std::size_t i = 0; i < t.size(); ++i)
      if (!types(t[i], u[i])) return false;
    return true;
  }
  // Makes each value of `left` the counterpart of that at the same place in `right`. False if numbers or types differ.
  bool match(id_range<value_id> left, id_range<value_id> right) {
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!types(f_->type_of(left[i]), g_->type_of(right[i]))) return false;
      values_[index_of(left[i])] = right[i];
    }
    return true;
  }
  bool values(value_id v, value_id w) const {
    if (!f_->is_literal(v)) return values_[index_of(v)] == w;
    return g_->is_literal(w) && f_->type_of(v) == g_->type_of(w) && f_->bits_of(v) == g_->bits_of(w);
  }
  bool attributes_of(op code, attributes const& x, attributes const& y) const {
    if (x.flags != y.flags || x.operation != y.operation || x.count != y.count || x.effects != y.effects ||
        !texts(x.detail, y.detail))
      return false;
    switch (code) {
    case op::call:
    case op::closure:
      return callees(x.callee(), y.callee());
    case op::host:
    case op::sample:
    case op::assert_:
      return texts(x.text(), y.text());
    default:
      return true;
    }
  }
  bool derivatives(derivative const& d, derivative const& e) const {
    return d.how == e.how && callees(d.tangent, e.tangent) && callees(d.cotangent, e.cotangent) &&
           texts(d.why, e.why);
  }
  bool functions(function const& f, function const& g) {
    f_ = &f;
    g_ = &g;
    values_.assign(f.value_count(), nothing);
    return texts(f.name, g.name) && texts(f.structure, g.structure) && types(f.results, g.results) &&
           derivatives(f.derivative, g.derivative) && bodies();
  }
  // Compares the operations of both functions in order.
  bool bodies() {
    function const& f = *f_;
    function const& g = *g_;
    region_id r = function::body;
    if (!match(f.parameters(), g.parameters())) return false;
    node_id n = f[r].first;
    node_id m = g[r].first;
    region_id q = function::body;
    for (;;) {
      if (n == nothing || m == nothing) { // the end of a region in at least one of them
        if (n != m) return false;
        if (r == function::body) return true;
        n = f[r].parent;
        m = g[q].parent;
        std::uint32_t const following = index_of(r) - f[n].first_region + 1;
        if (following < f[n].region_count) {
          if (!enter(n, m, following, r, q)) return false;
          n = f[r].first;
          m = g[q].first;
          continue;
        }
      } else {
        if (!nodes(n, m)) return false;
        if (f[n].region_count > 0) {
          if (!enter(n, m, 0, r, q)) return false;
          n = f[r].first;
          m = g[q].first;
          continue;
        }
      }
      // both operations and their regions are equal
      if (!match(f.results_of(n), g.results_of(m))) return false;
      r = f[n].parent;
      q = g[m].parent;
      n = f[n].next;
      m = g[m].next;
    }
  }
  // Enters region i of both operations. False if the arguments differ.
  bool enter(node_id n, node_id m, std::uint32_t i, region_id& r, region_id& q) {
    r = f_->region_at(n, i);
    q = g_->region_at(m, i);
    return match(f_->arguments_of(r), g_->arguments_of(q));
  }
  bool nodes(node_id n, node_id m) const {
    function::node const& x = (*f_)[n];
    function::node const& y = (*g_)[m];
    if (x.code != y.code || x.operand_count != y.operand_count || x.region_count != y.region_count ||
        !attributes_of(x.code, x.attributes, y.attributes))
      return false;
    for (std::uint32_t i = 0; i < x.operand_count; ++i)
      if (!values(f_->operand(n, i), g_->operand(m, i))) return false;
    return true;
  }

  program const& a_;
  program const& b_;
  function const* f_ = nullptr;
  function const* g_ = nullptr;
  std::vector<function_id> counterparts_; // by function of a_
  std::vector<value_id> values_;          // the counterparts, by value of f_
};

} // namespace detail

bool operator==(program const& a, program const& b) { return detail::comparison(a, b).programs(); }

} // namespace overdub::ir
