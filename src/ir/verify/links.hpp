// The first part of the verifier: the consistency of a function's storage, so that the other parts can use ids without
// checks. It also numbers the operations, for dominance.
#pragma once

#include <overdub/implementation/ir/literal_table.hpp>
#include <overdub/implementation/ir/verify/findings.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace overdub::ir::detail {

/// The operations of a function in order, from 1; 0: unreachable.
struct numbering {
  std::vector<std::uint32_t> order; // of an operation
  std::vector<std::uint32_t> after; // of the next operation after one and its regions
  std::vector<std::uint32_t> start; // of a region's first operation
  std::vector<std::uint32_t> end;   // of the next operation after a region

  /// Whether the definition of v dominates operation n: it comes before n, in the same region or in an enclosing one.
  bool dominates(function const& f, value_id v, node_id n) const {
    function::value const& x = f[v];
    std::uint32_t const at = order[index_of(n)];
    switch (x.from) {
    case origin::literal:
      return true;
    case origin::argument:
      return at < end[x.maker] && at >= start[x.maker];
    case origin::result:
      break;
    }
    node_id const definition{x.maker};
    if (order[index_of(definition)] == 0) return false;
    return at >= after[index_of(definition)] && at < end[index_of(f[definition].parent)];
  }
};

/// Checks the links of functions, one after another. O(storage).
class link_check {
public:
  link_check(program const& p, findings& out) : program_(p), out_(out) {}

  /// Whether the parameters can be read.
  static bool has_parameters(function const& f) {
    if (f.region_count() == 0) return false;
    function::region const& body = f[function::body];
    return fits(body.first_argument, body.argument_count, f.value_count());
  }

  /// Whether the function is consistent; `numbers` gets the order of its operations.
  bool run(function_id id, numbering& numbers) {
    id_ = id;
    f_ = &program_[id];
    numbers_ = &numbers;
    operands_ = 0;
    is_operand_.assign(f_->use_count(), 0);
    std::size_t const before = out_.size();
    numbers.order.assign(f_->node_count(), 0);
    numbers.after.assign(f_->node_count(), 0);
    numbers.start.assign(f_->region_count(), 0);
    numbers.end.assign(f_->region_count(), 0);
    if (f_->region_count() == 0) {
      wrong("it has no body");
      return false;
    }
    if ((*f_)[function::body].parent != nothing) wrong("its body is a region of one of its own operations");
    walk();
    if (out_.size() == before) check_unreached();
    if (out_.size() == before) check_values();
    return out_.size() == before;
  }

private:
  static constexpr bool fits(std::uint32_t first, std::uint32_t count, std::size_t size) {
    return std::uint64_t{first} + count <= size;
  }
  void wrong(std::string const& text) { out_.add(id_, text + "; its storage is broken"); }
  void wrong(node_id n, std::string const& text) { out_.add(id_, n, text + "; its storage is broken"); }

  // Walks in order, along links that are checked before they are used. Each region is entered from the one operation that
  // it names, and each operation from the region and the neighbour that it names, so that the walk terminates.
  void walk() {
    function const& f = *f_;
    numbering& numbers = *numbers_;
    struct position {
      region_id region;
      node_id at;
      node_id previous;
    };
    std::vector<position> open;
    std::uint32_t number = 1;
    auto enter = [&](region_id r) {
      numbers.start[index_of(r)] = number;
      open.push_back({r, check_region(r) ? f[r].first : node_id(nothing), nothing});
    };
    auto leave_node = [&](node_id n) {
      numbers.after[index_of(n)] = number;
      open.back().previous = n;
      open.back().at = f[n].next;
    };
    met_ = 0;
    enter(function::body);
    while (!open.empty() && !out_.is_full()) {
      auto const [r, n, previous] = open.back();
      if (n == nothing) {
        if (f[r].last != previous)
          wrong(
              "region " + std::to_string(index_of(r)) +
              " does not end with the operation that its link names as the last one");
        numbers.end[index_of(r)] = number;
        open.pop_back();
        if (open.empty()) break;
        node_id const owner = open.back().at;
        std::uint32_t const following = index_of(r) - f[owner].first_region + 1;
        if (following < f[owner].region_count)
          enter(f.region_at(owner, following));
        else
          leave_node(owner);
      } else if (!check_place(n, r, previous) || !check_node(n)) {
        open.back().at = nothing; // further links cannot be trusted
        open.back().previous = f[r].last;
      } else {
        numbers.order[index_of(n)] = number++;
        ++met_;
        if (f[n].region_count == 0)
          leave_node(n);
        else if (open.size() < max_nesting)
          enter(f.region_at(n, 0));
        else
          return too_deep(n);
      }
    }
  }

  void too_deep(node_id n) {
    out_.add(
        id_, n,
        "regions are nested more than " + std::to_string(max_nesting) +
            " deep; move some of them into functions");
  }

  bool check_place(node_id n, region_id r, node_id previous) {
    if (index_of(n) >= f_->node_count())
      return wrong(
                 "region " + std::to_string(index_of(r)) + " goes on with operation " +
                 std::to_string(index_of(n)) + ", which does not exist"),
             false;
    if ((*f_)[n].parent != r)
      return wrong(
                 n, "it is in region " + std::to_string(index_of(r)) + ", and its link names another region"),
             false;
    if ((*f_)[n].previous != previous) return wrong(n, "its link to the operation before it is wrong"), false;
    return true;
  }

  // Checks that the operands, results and regions of an operation refer back to it.
  bool check_node(node_id n) {
    function const& f = *f_;
    function::node const& node = f[n];
    if (node.code >= op::none) return wrong(n, "there is no such operation"), false;
    if (!fits(node.first_operand, node.operand_count, f.use_count()))
      return wrong(n, "its operands lie outside of those of the function"), false;
    if (!fits(node.first_result, node.result_count, f.value_count()))
      return wrong(n, "its results lie outside of the values of the function"), false;
    if (!fits(node.first_region, node.region_count, f.region_count()))
      return wrong(n, "its regions lie outside of those of the function"), false;
    for (std::uint32_t i = 0; i < node.operand_count; ++i) {
      function::use const& use = f[use_id{node.first_operand + i}];
      if (use.user != n) return wrong(n, operand(i) + " belongs to another operation"), false;
      if (index_of(use.value) >= f.value_count())
        return wrong(n, operand(i) + " is a value that does not exist"), false;
    }
    std::fill_n(is_operand_.begin() + node.first_operand, node.operand_count, std::uint8_t{1});
    operands_ += node.operand_count;
    for (std::uint32_t i = 0; i < node.result_count; ++i) {
      function::value const& v = f[f.result(n, i)];
      if (v.from != origin::result || v.maker != index_of(n) || v.index != i)
        return wrong(n, "result " + std::to_string(i + 1) + " has another definition in the table of values"),
               false;
    }
    for (region_id const r : f.regions_of(n))
      if (f[r].parent != n)
        return wrong(n, "region " + std::to_string(index_of(r)) + " belongs to another operation"), false;
    return true;
  }

  bool check_region(region_id r) {
    function const& f = *f_;
    function::region const& region = f[r];
    std::string const name = "region " + std::to_string(index_of(r));
    if (!fits(region.first_argument, region.argument_count, f.value_count()))
      return wrong("the arguments of " + name + " lie outside of the values of the function"), false;
    for (std::uint32_t i = 0; i < region.argument_count; ++i) {
      function::value const& v = f[f.argument(r, i)];
      if (v.from != origin::argument || v.maker != index_of(r) || v.index != i)
        return wrong(
                   "argument " + std::to_string(i + 1) + " of " + name +
                   " has another definition in the table of values"),
               false;
    }
    return true;
  }

  // Checks that operations and regions that the walk did not reach are marked as erased.
  void check_unreached() {
    function const& f = *f_;
    for (std::uint32_t i = 0; i < f.node_count() && met_ < f.node_count(); ++i)
      if (f[node_id{i}].parent != nothing && numbers_->order[i] == 0)
        wrong(node_id{i}, "its link names a region that does not contain it");
    for (std::uint32_t i = 1; i < f.region_count(); ++i)
      if (f[region_id{i}].parent != nothing && numbers_->end[i] == 0)
        wrong("region " + std::to_string(i) + "'s link names an operation that does not have this region");
  }

  // Checks that values refer to their definitions, and that their use lists are exact.
  void check_values() {
    function const& f = *f_;
    std::uint64_t listed = 0;
    std::size_t literals = 0;
    for (std::uint32_t i = 0; i < f.value_count() && !out_.is_full(); ++i) {
      value_id const v{i};
      if (!check_origin(v)) continue;
      if (f.is_literal(v)) ++literals;
      if (!check_uses(v, listed)) return;
    }
    if (literals != f.literals_.size() || literals != known_literals())
      wrong("a literal that it keeps is none of its values");
    if (listed != operands_) wrong("operands are missing in the lists of uses of their values");
  }

  std::size_t known_literals() const {
    literal_table const* const known = f_->literal_of_.get_if();
    return known == nullptr ? 0 : known->size();
  }
  bool check_origin(value_id v) {
    function const& f = *f_;
    function::value const& x = f[v];
    bool is_there = false;
    switch (x.from) {
    case origin::literal:
      if (x.maker < f.literals_.size() && f.literal_of_.get_if() != nullptr) {
        auto const at = f.literal_of_.get_if()->find({x.type, f.bits_of(v)});
        is_there = at != f.literal_of_.get_if()->end() && at->second == v;
      }
      break;
    case origin::argument:
      is_there = x.maker < f.region_count() && x.index < f[region_id{x.maker}].argument_count &&
                 f.argument(region_id{x.maker}, x.index) == v;
      break;
    case origin::result:
      is_there = x.maker < f.node_count() && x.index < f[node_id{x.maker}].result_count &&
                 f.result(node_id{x.maker}, x.index) == v;
      break;
    }
    bool const is_free = x.from == origin::argument && x.index == index_of(value_id(nothing));
    if (is_free)
      wrong(out_.name_of(f, v) + " is free: no operation or region defines it; copy the code, and bind it");
    else if (!is_there)
      wrong(out_.name_of(f, v) + " is not at its definition in the table of values");
    return is_there;
  }

  bool check_uses(value_id v, std::uint64_t& listed) {
    function const& f = *f_;
    use_id previous = nothing;
    for (use_id u = f[v].first_use; u != nothing; u = f[u].next) {
      if (index_of(u) >= f.use_count() || f[u].value != v || f[u].previous != previous ||
          !is_operand_[index_of(u)])
        return wrong("the list of uses of " + out_.name_of(f, v) + " is broken"), false;
      previous = u;
      ++listed;
    }
    return true;
  }
  static std::string operand(std::uint32_t i) { return "operand " + std::to_string(i + 1); }

  program const& program_;
  findings& out_;
  function_id id_ = nothing;
  function const* f_ = nullptr;
  numbering* numbers_ = nullptr;
  std::vector<std::uint8_t> is_operand_; // for each use: whether it is an operand of a visited operation
  std::uint32_t met_ = 0;                // visited operations
  std::uint64_t operands_ = 0;           // their operands
};

} // namespace overdub::ir::detail
