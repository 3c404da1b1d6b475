// Runs a function on buffers without contents: branches are chosen, and loops iterate, at random. Reports the first reference that is
// released twice, leaked, or used after its release, and the first buffer that is overwritten while another value refers to it.
#pragma once

#include <overdub/implementation/ir/reference_counts.hpp>
#include <overdub/ir/regions.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

class reference_simulation {
  using function = overdub::ir::function;
  using value_id = overdub::ir::value_id;
  using node_id = overdub::ir::node_id;
  using region_id = overdub::ir::region_id;
  using op = overdub::ir::op;

public:
  reference_simulation(
      function const& f, overdub::ir::reference_counts const& counts,
      overdub::ir::counting_rules const& rules, std::uint64_t seed)
      : f_(f), counts_(counts), rules_(rules), random_(seed), states_(f.value_count()) {}

  /// The first fault; empty, if there is none.
  std::string run() {
    for (value_id const v : f_.parameters())
      if (is_counted(v)) define(v, fresh());
    run_region(function::body);
    for (std::size_t const b : yielded(function::body))
      --buffers_[b].count; // the caller releases the results
    for (value_id const v : f_.parameters())
      if (counts_.is_borrowed(v)) --buffers_[states_[index_of(v)].buffer].count;
    for (buffer const& b : buffers_)
      if (b.count != 0) fault("a buffer has " + std::to_string(b.count) + " references at the end");
    return fault_;
  }

private:
  struct buffer {
    std::int64_t count = 1;
    std::uint32_t version = 0; // the number of writes
  };
  struct state {
    std::size_t buffer = 0;
    std::uint32_t version = 0;
    bool holds = false; // a reference
  };

  void fault(std::string const& text) {
    if (fault_.empty()) fault_ = text;
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool is_counted(value_id v) const {
    return !f_.is_literal(v) && overdub::ir::is_reference_counted(f_.type_of(v));
  }
  state& of(value_id v) { return states_[index_of(v)]; }
  std::string name(value_id v) const { return "value " + std::to_string(index_of(v)); }

  // ---- buffers

  std::size_t fresh() {
    buffers_.push_back({});
    return buffers_.size() - 1;
  }
  void define(value_id v, std::size_t b) {
    if (is_counted(v)) of(v) = {b, buffers_[b].version, !counts_.is_borrowed(v)};
  }
  void use(value_id v) {
    if (!is_counted(v)) return;
    state const& s = of(v);
    if (!s.holds && !counts_.is_borrowed(v)) fault(name(v) + " is used after its reference is gone");
    if (buffers_[s.buffer].count <= 0) fault(name(v) + " is used after its buffer is freed");
    if (buffers_[s.buffer].version != s.version) fault(name(v) + " is overwritten");
  }
  void drop(std::size_t b) {
    if (--buffers_[b].count < 0) fault("a buffer is released twice");
  }
  void release(value_id v) {
    if (!of(v).holds) fault(name(v) + " is released without a reference");
    of(v).holds = false;
    drop(of(v).buffer);
  }
  // The buffer of a consumed operand, with a reference that is the operation's.
  std::size_t consume(node_id n, std::uint32_t k) {
    value_id const v = f_.operand(n, k);
    if (!is_counted(v)) return 0;
    std::size_t const b = of(v).buffer;
    if (counts_.transfers(n, k) == counts_.retains(n, k)) fault(name(v) + " is not consumed");
    if (counts_.retains(n, k)) ++buffers_[b].count;
    if (counts_.transfers(n, k) && !of(v).holds) fault(name(v) + " is transferred without a reference");
    if (counts_.transfers(n, k)) of(v).holds = false;
    return b;
  }
  // Consumed operands; checks afterwards what is known to be unique.
  std::vector<std::size_t> consume_all(node_id n, std::uint32_t first, std::uint32_t count) {
    std::vector<std::size_t> all;
    for (std::uint32_t k = first; k < first + count; ++k) all.push_back(consume(n, k));
    for (std::uint32_t k = first; k < first + count; ++k)
      if (counts_.is_unique(n, k) && buffers_[all[k - first]].count != 1) fault("an operand is not unique");
    return all;
  }
  // Before a write: the buffer itself, if it has one reference, else a copy. The value before it is overwritten.
  std::size_t own(std::size_t b) {
    if (buffers_[b].count == 1) {
      ++buffers_[b].version;
      return b;
    }
    drop(b);
    return fresh();
  }

  // ---- regions

  void run_region(region_id r) {
    for (value_id const v : counts_.released_on_entry(r)) release(v);
    for (node_id const n : f_.nodes_of(r))
      if (n != f_.yield_of(r)) run_operation(n);
    for (value_id const v : f_.operands_of(f_.yield_of(r))) use(v);
  }
  // The buffers that a region yields, whose references the operation with the region receives.
  std::vector<std::size_t> yielded(region_id r) {
    node_id const last = f_.yield_of(r), owner = f_[r].parent;
    std::uint32_t count = f_[last].operand_count;
    if (owner != overdub::ir::nothing) {
      overdub::ir::region_flow const flow(f_, owner);
      if (!flow.yields_results(r))
        count = 0;
      else if (flow.stacked() > 0 || overdub::ir::is_map(f_[owner].code))
        count = flow.carried();
    }
    std::vector<std::size_t> all = consume_all(last, 0, count);
    end_region(r);
    std::vector<std::size_t> counted;
    for (std::uint32_t k = 0; k < count; ++k)
      if (owner != overdub::ir::nothing || is_counted(f_.operand(last, k))) counted.push_back(all[k]);
    return counted;
  }
  void end_region(region_id r) {
    for (value_id const v : counts_.released_after(f_.yield_of(r))) release(v);
    for (value_id const v : f_.arguments_of(r)) check_dead(v);
    for (node_id const n : f_.nodes_of(r))
      for (value_id const v : f_.results_of(n)) check_dead(v);
  }
  void check_dead(value_id v) {
    if (is_counted(v) && of(v).holds) fault(name(v) + " is leaked");
  }
  void
  define_all(overdub::ir::id_range<value_id> all, std::uint32_t first, std::vector<std::size_t> const& b) {
    for (std::uint32_t k = 0; k < b.size(); ++k) define(all[first + k], b[k]);
  }

  // ---- operations

  void run_operation(node_id n) {
    for (value_id const v : f_.operands_of(n)) use(v);
    std::vector<std::size_t> results = results_of(n);
    for (std::uint32_t k = 0; k < f_[n].result_count; ++k) {
      value_id const v = f_.result(n, k);
      if (!is_counted(v)) continue;
      define(v, k < results.size() ? results[k] : fresh());
    }
    for (value_id const v : counts_.released_after(n)) release(v);
  }
  // The buffers of the first results; those of the others are new.
  std::vector<std::size_t> results_of(node_id n) {
    switch (f_[n].code) {
    case op::at:
    case op::slice:
      return part(n);
    case op::copy:
      return consume_all(n, 0, 1);
    case op::update:
      if (counts_.retains(n, 0)) return {};
      return {own(consume_all(n, 0, 1)[0])};
    case op::select: {
      value_id const v = f_.operand(n, 1 + static_cast<std::uint32_t>(below(2)));
      if (!is_counted(v)) return {};
      ++buffers_[of(v).buffer].count;
      return {of(v).buffer};
    }
    case op::reabstract:
      return consume_all(n, 0, 1);
    case op::if_: {
      region_id const r = f_.region_at(n, static_cast<std::uint32_t>(below(2)));
      run_region(r);
      return yielded(r);
    }
    case op::protect:
      run_region(f_.region_at(n, 0));
      return yielded(f_.region_at(n, 0));
    case op::loop:
    case op::while_:
      return loop(n);
    case op::map:
      for (std::uint64_t i = below(3); i-- > 0;) {
        run_region(f_.region_at(n, 0));
        (void)yielded(f_.region_at(n, 0));
      }
      return {};
    case op::reduce:
      return f_[n].region_count > 0 ? reduce(n) : std::vector<std::size_t>();
    case op::accumulate: {
      std::vector<std::size_t> all = consume_all(n, 0, f_[n].operand_count);
      for (std::size_t& b : all) b = own(b);
      run_region(f_.region_at(n, 0));
      for (std::size_t const b : yielded(f_.region_at(n, 0))) all.push_back(b);
      return all;
    }
    case op::call:
    case op::apply:
    case op::closure: // whose captures are released with it: here at once
      for (std::uint32_t k = 0; k < f_[n].operand_count; ++k)
        if (is_counted(f_.operand(n, k)) && rules_.owners.consumes(f_, n, k))
          passed_.push_back(consume(n, k));
      for (value_id const v : f_.operands_of(n))
        if (is_counted(v) && buffers_[of(v).buffer].count <= 0) fault(name(v) + " is freed before a call");
      for (std::uint32_t k = 0; k < f_[n].operand_count; ++k)
        if (is_counted(f_.operand(n, k)) && !rules_.owners.consumes(f_, n, k)) use(f_.operand(n, k));
      for (std::size_t const b : passed_) drop(b);
      passed_.clear();
      return {};
    default:
      return {};
    }
  }
  std::vector<std::size_t> part(node_id n) {
    value_id const array = f_.operand(n, 0), v = f_.result(n);
    if (!is_counted(v)) return {};
    std::size_t const b = of(array).buffer;
    if (!counts_.is_borrowed(v)) return {consume(n, 0)};
    return {b};
  }
  std::vector<std::size_t> loop(node_id n) {
    overdub::ir::region_flow const flow(f_, n);
    std::vector<std::size_t> all = consume_all(n, flow.leading_operands(), flow.carried());
    if (rules_.in_place != nullptr && overdub::ir::is_counted_loop(f_[n].code))
      for (std::uint32_t k = 0; k < flow.carried(); ++k)
        if (rules_.in_place->has(flow.argument(k))) all[k] = own(all[k]);
    for (std::uint64_t i = below(4);; --i) {
      if (region_id const condition = f_.region_at(n, 0); condition != flow.body()) {
        define_all(f_.arguments_of(condition), 0, all);
        run_region(condition);
        for (value_id const v : f_.arguments_of(condition)) of(v).holds = false; // the body has it
        end_region(condition);
      }
      if (i == 0) return all;
      define_all(f_.arguments_of(flow.body()), flow.leading_arguments(), all);
      run_region(flow.body());
      all = yielded(flow.body());
    }
  }
  std::vector<std::size_t> reduce(node_id n) {
    std::uint32_t const count = f_[n].result_count;
    auto const element = [&] {
      std::vector<std::size_t> all;
      for (std::uint32_t k = 0; k < count; ++k) {
        value_id const array = f_.operand(n, k);
        use(array);
        if (f_.type_of(array).rank == 1) {
          all.push_back(f_.type_of(array).element == overdub::ir::scalar::function ? fresh() : 0);
          continue;
        }
        ++buffers_[of(array).buffer].count;
        all.push_back(of(array).buffer);
      }
      return all;
    };
    bool const is_started = f_[n].operand_count > count;
    std::vector<std::size_t> all = is_started ? consume_all(n, count, count) : element();
    for (std::uint64_t i = below(3); i-- > 0;) {
      std::vector<std::size_t> const right = element();
      define_all(f_.arguments_of(f_.region_at(n, 0)), 0, all);
      define_all(f_.arguments_of(f_.region_at(n, 0)), count, right);
      run_region(f_.region_at(n, 0));
      all = yielded(f_.region_at(n, 0));
    }
    return all;
  }

  function const& f_;
  overdub::ir::reference_counts const& counts_;
  overdub::ir::counting_rules const& rules_;
  std::mt19937_64 random_;
  std::vector<state> states_; // of each value
  std::vector<buffer> buffers_;
  std::vector<std::size_t> passed_;
  std::string fault_;
};
