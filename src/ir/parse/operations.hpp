// The syntax of each operation.
#pragma once

#include <overdub/implementation/ir/keywords.hpp>
#include <overdub/implementation/ir/parse/function_reader.hpp>
#include <overdub/implementation/ir/parse/spelling.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::ir::detail {

class operation_reader : protected function_reader {
protected:
  using function_reader::function_reader;

  // A call of a function that is defined later.
  struct forward_call {
    function_id in;
    node_id node;
    symbol callee;
    std::uint8_t flags;
    std::uint32_t where;
    std::uint32_t types_at;
    bool is_tainted;
  };
  std::vector<forward_call> forward_calls_;

  void read_operation() {
    if (in_.peek() == '%') {
      do {
        if (in_.peek() != '%') in_.fail_expected("the name of a result");
        heads_.push_back(read_name());
      } while (in_.take(','));
      in_.expect('=');
    }
    at_ = offset();
    if (frames_.back().ended) in_.fail_expected("\"}\" after the end of the block");
    std::string_view const word = in_.word();
    if (word.empty()) in_.fail_expected(heads_.empty() ? "an operation or \"}\"" : "an operation");
    bool const returns = word == "return";
    op const code = returns ? op::yield : ops_by_name.find(word);
    switch (code) {
    case op::none:
      refuse_word(word);
    case op::yield:
      return read_yield(returns);
    case op::call:
    case op::closure:
      return read_call(code);
    case op::apply:
      add_operand();
      read_operands_in_brackets();
      read_declared();
      return (void)insert(code);
    case op::reabstract:
      return read_reabstract();
    case op::host:
      return read_host();
    case op::sample:
      return read_sample();
    case op::assert_:
      return read_assert();
    case op::if_:
      add_operand();
      return read_branches(code);
    case op::protect:
      return read_branches(code);
    case op::loop:
    case op::while_:
      return read_loop(code);
    case op::map:
      return read_map();
    case op::reduce:
      return read_reduce();
    case op::accumulate:
      return read_accumulate();
    default:
      if (is_at_operand())
        read_operands();
      else if (row_of(code).least > 0)
        in_.fail_expected("a value");
      read_declared();
      (void)insert(code);
    }
  }

  /// After all functions are known.
  void resolve(forward_call const& call) {
    function_entry const& callee = entry_of(call.callee);
    if (callee.is_broken) return;
    if (callee.id == nothing) return wrong(call.where, no_function(call.callee));
    cursor c(p_, call.in, function::body);
    c.attributes_of(call.node) = {.subject = index_of(callee.id), .flags = call.flags};
    if (call.is_tainted) return;
    function const& f = p_[call.in];
    checked_.operands.clear();
    declared_.clear();
    for (value_id const v : f.operands_of(call.node)) checked_.operands.push_back(f.type_of(v));
    for (value_id const v : f.results_of(call.node)) declared_.push_back(f.type_of(v));
    at_ = call.where;
    types_at_ = call.types_at;
    check_types(f[call.node].code, f[call.node].attributes);
  }

private:
  [[noreturn]] void refuse_word(std::string_view word) {
    nearest_word nearest(word);
    for (op_row const& row : rows) nearest.try_word(row.name);
    nearest.try_word("return");
    in_.fail(at_, "there is no operation " + quoted(word) + nearest.suggestion());
  }

  void read_yield(bool returns) {
    bool const in_body = frames_.back().owner == nothing;
    if (returns != in_body)
      wrong(
          at_, in_body ? "a function ends with return, and not with yield"
                       : "a region ends with yield; return ends a function");
    if (!heads_.empty()) wrong(heads_[0].where, "return and yield have no results");
    if (is_at_operand()) read_operands();
    insert_yield();
  }

  // ---- calls, and operations that leave the program
  void read_call(op code) {
    std::uint8_t const flags = code == op::call && in_.take("exempt") ? attributes::exempt : std::uint8_t{0};
    symbol const name = function_name();
    read_operands_in_brackets();
    read_declared();
    function_entry const callee = entry_of(name);
    if (callee.id != nothing) return (void)insert(code, {.subject = index_of(callee.id), .flags = flags});
    bool const tainted = std::exchange(is_tainted_, true); // types are checked in `resolve`
    node_id const n = insert(code);
    forward_calls_.push_back({c_->id(), n, name, flags, at_, types_at_, tainted});
  }
  // reabstract %f : the operand's type as the result's type
  void read_reabstract() {
    if (!is_at_operand()) in_.fail_expected("a value");
    add_operand();
    std::uint32_t const from_at = offset();
    in_.expect(':');
    type const from = read_type();
    if (!is_tainted_ && from != operand_type(0))
      in_.fail(
          from_at, "reabstract: the operand is " + ir::text_of(p_, operand_type(0)) + ", and " +
                       ir::text_of(p_, from) + " is written");
    types_at_ = offset();
    if (!in_.take("as")) in_.fail_expected("\"as\" and the type of the result");
    read_types(declared_);
    (void)insert(op::reabstract);
  }
  void read_host() {
    std::uint32_t const at = offset();
    std::string_view const word = in_.word();
    auto const found = std::find(effect_names.begin(), effect_names.end(), word);
    if (word.empty()) in_.fail_expected("an effect, as in host pure \"name\"()");
    if (found == effect_names.end())
      in_.fail(
          at, "there is no effect " + quoted(word) +
                  "; write pure, may_fail, reads_context, addressed, accumulates or ordered");
    attributes a = attributes::of(p_.intern(in_.text()));
    a.effects = static_cast<effect>(found - effect_names.begin());
    read_operands_in_brackets();
    read_declared();
    (void)insert(op::host, a);
  }
  void read_sample() {
    attributes a = attributes::of(p_.intern(in_.text()));
    std::uint32_t const indices_at = offset();
    if (in_.take('[')) {
      read_operands();
      in_.expect(']');
    }
    if (operands_.size() > std::numeric_limits<std::uint16_t>::max())
      in_.fail(indices_at, "an address has at most 65535 indices");
    a.count = static_cast<std::uint16_t>(operands_.size());
    a.detail = p_.intern(in_.text());
    read_operands_in_brackets();
    read_declared();
    (void)insert(op::sample, a);
  }
  void read_assert() {
    add_operand();
    in_.expect(',');
    attributes const a = attributes::of(p_.intern(in_.text()));
    (void)insert(op::assert_, a);
  }

  // ---- operations with regions
  void read_branches(op code) {
    read_arrow();
    region_types_[0].clear();
    region_types_[1].clear();
    open(code, {}, 2);
  }
  void read_loop(op code) {
    attributes a;
    std::size_t const first = code == op::loop ? 1 : 0; // after the trip count
    if (code == op::loop) {
      if (in_.take("reversed")) a.flags = attributes::reversed;
      add_operand();
    }
    read_region_arguments(first);
    std::size_t const carried = operands_.size() - first;
    checked_.wanted.assign(first, i64);
    for (std::size_t i = 0; i < carried; ++i) checked_.wanted.push_back(operand_type(first + i));
    must_take(checked_.wanted);
    read_arrow();
    bool const fits = std::equal(
        declared_.begin(), declared_.end(), checked_.wanted.begin() + static_cast<std::ptrdiff_t>(first),
        checked_.wanted.end());
    if (!fits && (!is_tainted_ || declared_.size() != carried))
      in_.fail(
          types_at_, std::string(ir::name_of(code)) + ": the loop-carried types are " +
                         text_of(std::span(checked_.wanted).subspan(first)) + ", and " + text_of(declared_) +
                         " is declared; what each iteration yields is declared after \"stack\"");
    std::uint32_t const stack_at = offset();
    if (in_.take("stack")) read_results(declared_);
    for (std::size_t i = carried; i < declared_.size(); ++i) declared_[i] = row_array(stack_at, declared_[i]);
    region_types_[1] = region_types_[0];
    open(code, a, code == op::loop ? 1 : 2);
  }
  void read_map() {
    add_operand();
    read_region_arguments(no_initial);
    must_take(std::span(&i64, 1));
    read_arrow();
    for (type& t : declared_) t = row_array(types_at_, t);
    open(op::map, {}, 1);
  }
  void read_reduce() {
    attributes a;
    bool const is_in_order = in_.take("in_order");
    if (is_in_order)
      a.flags = attributes::in_order;
    else if (in_.take("in_lanes"))
      a.flags = attributes::in_lanes;
    if (is_in_order || (a.flags == 0 && in_.peek() != '%')) {
      std::uint32_t const at = offset();
      std::string_view const word = in_.word();
      if (word.empty())
        in_.fail_expected(
            is_in_order ? "an operation that combines; a reduction by a region has no in_order"
                        : "an operation that combines, or an array");
      a.operation = ops_by_name.find(word);
      if (a.operation == op::none) {
        at_ = at;
        refuse_word(word);
      }
    }
    read_operands();
    std::size_t const arrays = operands_.size();
    std::uint32_t const from_at = offset();
    if (in_.take("from")) {
      a.flags |= attributes::started;
      read_operands();
      if (operands_.size() != 2 * arrays)
        in_.fail(
            from_at, "reduce: " + counted(arrays, "array") + " and " +
                         counted(operands_.size() - arrays, "initial value") + "; each array has one");
    } else if (is_in_order) {
      in_.fail_expected("\"from\" and an initial value, with which in_order starts");
    }
    if (a.operation != op::none) {
      read_declared();
      return (void)insert(op::reduce, a);
    }
    if (in_.peek() != '(') in_.fail_expected("\"(\" and the arguments of the region that combines");
    read_region_arguments(no_initial);
    read_arrow();
    checked_.wanted = declared_;
    checked_.wanted.insert(checked_.wanted.end(), declared_.begin(), declared_.end());
    must_take(checked_.wanted);
    open(op::reduce, a, 1);
  }
  void read_accumulate() {
    read_region_arguments(0);
    checked_.wanted.clear();
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      type const t = operand_type(i);
      if (!t.is_array() && !is_tainted_)
        in_.fail(operand_at_[i], "accumulate: starts as an array, and is given " + ir::text_of(p_, t));
      checked_.wanted.push_back(t.accumulator());
    }
    must_take(checked_.wanted);
    read_arrow();
    if (declared_.size() < operands_.size())
      in_.fail(
          types_at_, "accumulate: returns at least " + counted(operands_.size(), "array") + ", and " +
                         std::to_string(declared_.size()) + " are declared");
    open(op::accumulate, {}, 1);
  }
};

} // namespace overdub::ir::detail
