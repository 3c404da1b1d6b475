// The abstract interpreter: evaluates a program on sets of values. Loops are iterated to a fixpoint; calls are analysed
// with their arguments, within a limit of steps.
#pragma once

#include <overdub/check/finding.hpp>
#include <overdub/check/values.hpp>
#include <overdub/implementation/check/state.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::checking {

using values = std::vector<abstract>;
using possible_values = std::optional<values>; // nothing: the end is never reached

namespace detail {
bool are_within(values const& x, values const& y);
// Whether a length is known exactly.
bool is_one(integers const& n);
std::string length_text(integers const& n);
} // namespace detail

class analysis {
public:
  /// `steps`: the number of operations to analyse precisely; beyond, calls and loops may return anything.
  explicit analysis(ir::program const& p, long steps = 400'000)
      : p_(p), components_(p), steps_(steps), of_function_(p.functions.size()),
        is_unknown_(p.functions.size()) {
    for (std::size_t i = 0; i < p.functions.size(); ++i) {
      of_function_[i].values.resize(p.functions[i].value_count());
      of_function_[i].regions.resize(p.functions[i].region_count());
      of_function_[i].nodes.resize(p.functions[i].node_count());
    }
  }

  /// Analyses the entry with these arguments, and all that it calls. Call it once.
  void run(ir::function_id entry, values arguments) {
    (void)call(entry, std::move(arguments));
    // Functions that are called with unknown arguments, or through unknown function values.
    must_ = false;
    path_.clear();
    for (std::size_t i = 0; i < unknown_.size(); ++i) {
      values any;
      for (ir::value_id const v : p_[unknown_[i]].parameters())
        any.push_back(anything(p_[unknown_[i]].type_of(v)));
      (void)body(unknown_[i], std::move(any));
    }
  }

  std::vector<finding> findings;

  /// The set of values of v; nothing if it is never computed.
  std::optional<abstract> const& seen(ir::function_id f, ir::value_id v) const {
    return of_function_[index_of(f)].values[index_of(v)];
  }
  /// Whether a region, or an operation, may run.
  bool is_reached(ir::function_id f, ir::region_id r) const {
    return of_function_[index_of(f)].regions[index_of(r)];
  }
  bool is_reached(ir::function_id f, ir::node_id n) const {
    return of_function_[index_of(f)].nodes[index_of(n)];
  }

private:
  using op = ir::op;
  using node_id = ir::node_id;
  using region_id = ir::region_id;
  using value_id = ir::value_id;
  using function_id = ir::function_id;

  // Sets a variable for a scope.
  template <class T>
  class with {
  public:
    with(T& variable, T value) : variable_(variable), before_(std::exchange(variable, std::move(value))) {}
    with(with const&) = delete;
    with& operator=(with const&) = delete;
    ~with() { variable_ = std::move(before_); }

  private:
    T& variable_;
    T before_;
  };

  bool is_exhausted() const { return steps_ <= 0; }

  // ---- findings
  void report(
      state const& s, node_id n, finding_kind kind, bool each_time, std::string what,
      std::uint32_t region = 0) {
    if (!reporting_) return;
    std::vector<std::uint32_t> key;
    for (finding::step const& each : path_)
      key.insert(key.end(), {index_of(each.function), index_of(each.call)});
    key.insert(key.end(), {index_of(s.id), index_of(n), static_cast<std::uint32_t>(kind), region});
    auto const [known, is_new] = reported_.try_emplace(std::move(key), findings.size());
    if (!is_new) { // analysed again, with a larger set of values: certain if it is certain each time
      finding& before = findings[known->second];
      if (!before.each_time || each_time) return;
      before.each_time = false;
      before.how = severity::possible;
      before.what = std::move(what);
      return;
    }
    finding x;
    x.kind = kind;
    x.each_time = each_time;
    x.how = each_time && must_ ? severity::certain : severity::possible;
    x.function = s.id;
    x.node = n;
    x.region = region;
    x.path = path_;
    x.what = std::move(what);
    findings.push_back(std::move(x));
  }
  // An exception: no operation runs after one that is certain.
  bool fail(state const& s, node_id n, finding_kind kind, bool certainly, std::string what) {
    report(s, n, kind, certainly, std::move(what));
    return !certainly;
  }

  // ---- symbols
  // Unknown lengths get symbols, so that they can be compared.
  abstract named(abstract x) {
    for (integers& length : x.lengths)
      if (length.from.symbol == relative::none && length.to.symbol == relative::none &&
          length.low != length.high)
        length.from = length.to = {next_symbol_++, 0};
    return x;
  }
  // The set of an integer that is a length.
  integers size_of(state& s, value_id v) {
    abstract x = s[v];
    integers& n = x.element.whole;
    if (!s.f.is_literal(v) && n.low != n.high && n.from.symbol == relative::none &&
        n.to.symbol == relative::none) {
      n.from = n.to = {next_symbol_++, 0};
      s.set(v, x);
    }
    return n;
  }
  static integers index_below(integers const& n) { return {0, n.high - 1, {}, detail::moved(n.to, -1)}; }

  // ---- regions
  void record(state const& s, value_id v) {
    if (!reporting_) return;
    std::optional<abstract>& all = of_function_[index_of(s.id)].values[index_of(v)];
    all = all ? join(*all, s[v]) : s[v];
  }
  static bool nothing_to_do() { return true; }

  // The values that a region yields. `at_end` is called before refinements made in the region are undone.
  template <class AtEnd>
  possible_values region(state& s, region_id r, values arguments, AtEnd const& at_end) {
    auto const mark = s.mark();
    with<int> const deeper(depth_, depth_ + 1);
    if (reporting_) of_function_[index_of(s.id)].regions[index_of(r)] = true;
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      s.set(s.f.argument(r, i), named(std::move(arguments[i])));
      record(s, s.f.argument(r, i));
    }
    possible_values yielded;
    bool alive = true;
    for (node_id const n : s.f.nodes_of(r)) {
      --steps_;
      if (reporting_) of_function_[index_of(s.id)].nodes[index_of(n)] = true;
      if (s.f[n].code == op::yield) break;
      if (!(alive = node(s, n))) break;
      for (value_id const v : s.f.results_of(n)) record(s, v);
    }
    if (alive) {
      yielded.emplace();
      for (value_id const v : s.f.operands_of(s.f.yield_of(r))) yielded->push_back(s[v]);
      at_end();
    }
    s.back_to(mark);
    return yielded;
  }
  possible_values region(state& s, region_id r, values arguments) {
    return region(s, r, std::move(arguments), nothing_to_do);
  }

  void give(state& s, node_id n, values results) {
    for (std::uint32_t i = 0; i < results.size(); ++i) s.set(s.f.result(n, i), named(std::move(results[i])));
  }
  void give_anything(state& s, node_id n) {
    for (value_id const v : s.f.results_of(n)) s.set(v, named(anything(s.f.type_of(v))));
  }

  // Defined in control.cpp, arrays.cpp and calls.cpp. Each returns whether operations after it may run.
  bool node(state& s, node_id n);
  bool elementwise(state& s, node_id n);
  void report_hazards(state& s, node_id n, std::span<abstract const* const> operands, effect_of_op const& e);
  bool select(state& s, node_id n);

  bool branch(state& s, node_id n);
  bool loop(state& s, node_id n);
  bool conditional_loop(state& s, node_id n);
  bool map(state& s, node_id n);
  bool protect(state& s, node_id n);
  bool accumulate(state& s, node_id n);
  bool reduce(state& s, node_id n);
  template <class Step>
  values fixed_point(values const& initial, std::uint32_t symbol, Step const& step);
  values stacked(
      state& s, node_id n, std::uint32_t carried, possible_values const& yielded, integers const& times,
      std::uint32_t symbol);

  bool array_operation(state& s, node_id n);
  bool check_index(state& s, node_id n, value_id array, std::size_t axis, value_id index);
  bool check_size(state& s, node_id n, value_id size);
  bool check_lengths(state& s, node_id n, std::span<value_id const> arrays);
  bool check_rows(state& s, node_id n, abstract const& x, abstract const& y);
  bool part(state& s, node_id n);
  bool update(state& s, node_id n);

  possible_values call(function_id f, values arguments);
  possible_values body(function_id f, values arguments);
  possible_values recursive(function_id f, values arguments);
  bool call_node(state& s, node_id n, function_id callee, values arguments);
  bool function_value(state& s, node_id n);
  bool apply(state& s, node_id n);
  void call_with_unknown(function_id f);

  // The summary of a recursive function, over all its active calls.
  struct summary {
    values arguments;
    possible_values results;
    bool has_grown = false;
  };

  ir::program const& p_;
  ir::call_components components_;
  long steps_;
  bool reporting_ = true;
  bool must_ = true; // the current operation is reached in each run that does not fail before
  int depth_ = 0;    // of regions, in all active calls
  std::uint32_t next_symbol_ = 1;
  std::vector<finding::step> path_;
  std::map<std::vector<std::uint32_t>, std::size_t> reported_; // indices of findings
  struct function_findings {
    std::vector<std::optional<abstract>> values;
    std::vector<bool> regions, nodes; // those that are reached
  };
  std::vector<function_findings> of_function_;
  std::map<function_id, summary> summaries_;
  std::vector<function_id> unknown_;
  std::vector<bool> is_unknown_;
};

} // namespace overdub::checking
