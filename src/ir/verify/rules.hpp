// The third part of the verifier: the rules of operations and functions, in consistent storage.
#pragma once

#include <overdub/implementation/ir/verify/links.hpp>
#include <overdub/implementation/ir/verify/types.hpp>
#include <overdub/ir/infer.hpp>
#include <overdub/ir/rule_signature.hpp>
#include <overdub/ir/type_text.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace overdub::ir::detail {

class rule_check {
public:
  rule_check(program const& p, findings& out) : program_(p), out_(out), named_(p.symbol_count(), nothing) {
    for (function const& f : p.functions) readable_.push_back(is_readable(f));
  }

  /// Checks a function that passed link_check. O(its storage).
  void run(function_id id, numbering const& numbers) {
    id_ = id;
    f_ = &program_[id];
    numbers_ = &numbers;
    function const& f = *f_;
    check_head();
    for (std::uint32_t i = 0; i < f.value_count(); ++i) check_value(value_id{i});
    if (wrong_types_) return; // every rule below reads types
    check_end(function::body, nothing);
    for (std::uint32_t i = 0; i < f.node_count() && !out_.is_full(); ++i)
      if (numbers.order[i] != 0) check_node(node_id{i});
    check_results(function::body);
  }

private:
  using type_list = std::vector<type>;

  // ---- sentences
  void wrong(std::string const& text) { out_.add(id_, text); }
  void wrong(node_id n, std::string const& text) { out_.add(id_, n, text); }
  std::string text_of(std::span<type const> types) const {
    std::string text = "(";
    for (std::size_t i = 0; i < types.size(); ++i)
      text.append(i ? ", " : "").append(ir::text_of(program_, types[i]));
    return text + ")";
  }
  std::string operand(node_id n, std::uint32_t i) const {
    return "operand " + std::to_string(i + 1) + " (" + out_.name_of(*f_, f_->operand(n, i)) + ")";
  }
  std::string region(node_id n, region_id r) const {
    if (n == nothing) return "the body";
    return (*f_)[n].region_count == 1 ? "its region"
                                      : "region " + std::to_string(index_of(r) - (*f_)[n].first_region + 1);
  }

  // ---- functions and values
  // Whether calls of the function can be checked.
  bool is_readable(function const& f) const {
    if (!out_.has(f.name) || !link_check::has_parameters(f)) return false;
    auto fits = [&](type t) { return fault_of(program_, t, program_.signature_count()).empty(); };
    for (value_id const v : f.parameters())
      if (!fits(f.type_of(v))) return false;
    return std::all_of(f.results.begin(), f.results.end(), fits);
  }
  void check_head() {
    function const& f = *f_;
    wrong_types_ = false;
    if (f.structure != nothing && !out_.has(f.structure))
      wrong("its structure is a text that does not exist; give it a text of the program");
    if (f.place != nothing && index_of(f.place) >= program_.place_count())
      wrong("its source location does not exist; add it to the program first");
    for (std::size_t i = 0; i < f.results.size(); ++i)
      check_type(f.results[i], "result " + std::to_string(i + 1));
    check_derivative();
  }
  void check_derivative() {
    function const& f = *f_;
    derivative const& d = f.derivative;
    bool const has_rule = d.how == derivative::by::rule;
    if (d.how > derivative::by::refused)
      return wrong("its derivative is of no kind; set it to body, rule, constant or refused");
    if (d.how == derivative::by::refused && !out_.has(d.why))
      wrong("why it has no derivative is a text that does not exist; give it a text of the program");
    if (d.how != derivative::by::refused && d.why != nothing)
      wrong("it has a reason for having no derivative, and has a derivative; remove the reason");
    if (!has_rule && (d.tangent != nothing || d.cotangent != nothing))
      wrong("it names a function for its derivative, and has no rule; remove the function");
    if (!has_rule || !readable_[index_of(id_)]) return;
    std::vector<type> parameters;
    for (value_id const v : f.parameters()) parameters.push_back(f.type_of(v));
    for (type const t : parameters)
      if (t.is_function()) return wrong("it takes function values, and so has no rule for its derivative");
    for (type const t : f.results)
      if (t.is_function()) return wrong("it returns function values, and so has no rule for its derivative");
    check_rule("tangent", d.tangent, tangent_signature(parameters, f.results));
    if (d.cotangent != nothing)
      check_rule("cotangent", d.cotangent, cotangent_signature(parameters, f.results));
  }
  void check_rule(std::string const& what, function_id rule, rule_signature const& expected) {
    if (index_of(rule) >= program_.functions.size() || program_.is_erased(rule))
      return wrong("its " + what + " is a function that does not exist; add it, or name another");
    if (!readable_[index_of(rule)]) return;
    function const& r = program_[rule];
    rule_signature is{{}, r.results};
    for (value_id const v : r.parameters()) is.parameters.push_back(r.type_of(v));
    if (is != expected)
      wrong(
          "its " + what + " takes " + text_of(is.parameters) + " and returns " + text_of(is.results) +
          ", and must take " + text_of(expected.parameters) + " and return " + text_of(expected.results));
  }
  void check_type(type t, std::string const& what) {
    if (std::string const why = why_wrong(t, false); !why.empty()) wrong(what + " " + why);
  }
  std::string why_wrong(type t, bool may_accumulate) {
    if (t.index == 0 && t.element > scalar::none && t.element <= scalar::key && !t.is_accumulator) return {};
    std::string const fault = fault_of(program_, t, program_.signature_count());
    wrong_types_ = wrong_types_ || !fault.empty(); // a misplaced accumulator can be read
    if (!fault.empty() || may_accumulate || !t.is_accumulator) return fault;
    return "is an accumulator, and only the regions of accumulate have those; give it the array";
  }
  void check_value(value_id v) {
    function::value const& x = (*f_)[v];
    bool const may_accumulate = x.from == origin::argument && x.maker != index_of(function::body);
    if (std::string const why = why_wrong(x.type, may_accumulate); !why.empty()) wrong(v, why);
    if (x.name != nothing) check_name(v);
    if (x.from == origin::literal) check_literal(v);
  }
  // Reports an error of the operation that defines the value.
  void wrong(value_id v, std::string const& why) {
    function const& f = *f_;
    region_id const r = f.region_of(v);
    node_id const n = f.is_result(v) ? f.node_of(v) : f.is_argument(v) ? f[r].parent : node_id(nothing);
    std::string const text = out_.name_of(f, v) + " " + why;
    n == nothing ? wrong(text) : wrong(n, text);
  }
  void check_name(value_id v) {
    function const& f = *f_;
    symbol const name = f[v].name;
    if (!out_.has(name)) return wrong(v, "has a name that does not exist; give it a text of the program");
    if (program_.text(name).empty()) return wrong(v, "has an empty name; give it another, or none");
    if (f.is_literal(v)) return wrong(v, "is the name of a literal; literals have none");
    if (f.is_result(v) && numbers_->order[index_of(f.node_of(v))] == 0) return; // erased
    if (f.is_argument(v) && numbers_->end[index_of(f.region_of(v))] == 0) return;
    if (named_[index_of(name)] == id_)
      return wrong(v, "is the name of another value, too; give one of them another name, or none");
    named_[index_of(name)] = id_;
  }
  void check_literal(value_id v) {
    type const t = f_->type_of(v);
    std::uint64_t const bits = f_->bits_of(v);
    if (!t.is_literal() && t) {
      wrong_types_ = true;
      wrong(v, "is no number and no bool; other types have no literals");
    }
    if (t == boolean && bits > 1)
      wrong(v, "is a bool of the bits of " + std::to_string(bits) + "; true is 1, false is 0");
    if (t == f32 && bits >> 32 != 0) wrong(v, "is an f32 of more than 32 bits; write its 32 bits");
  }

  // ---- operations
  void check_node(node_id n) {
    function const& f = *f_;
    function::node const& node = f[n];
    if (node.place != nothing && index_of(node.place) >= program_.place_count())
      wrong(n, "its source location does not exist; add it to the program first");
    if (node.code == op::yield && node.next != nothing)
      wrong(
          n, "a yield ends its region, and an operation follows it; move that operation before the yield, or "
             "erase it");
    bool const readable = check_attributes(n);
    check_operands(n);
    for (region_id const r : f.regions_of(n)) check_end(r, n);
    if (!readable || !check_types(n)) return;
    if (node.region_count > 0 || node.code == op::reduce) check_regions(n);
  }

  // Definitions dominate uses, and accumulators are only added to.
  void check_operands(node_id n) {
    function const& f = *f_;
    function::node const& node = f[n];
    for (std::uint32_t i = 0; i < node.operand_count; ++i) {
      value_id const v = f.operand(n, i);
      if (!numbers_->dominates(f, v, n)) wrong(n, operand(n, i) + why_unknown(v, n));
      if (f.type_of(v).is_accumulator && (node.code != op::add_to || i != 0))
        wrong(
            n, operand(n, i) +
                   " is an accumulator, which only add_to takes, as its first operand; use the result "
                   "of accumulate instead");
    }
  }
  std::string why_unknown(value_id v, node_id n) const {
    function const& f = *f_;
    if (f.is_result(v)) {
      std::uint32_t const definition = numbers_->order[index_of(f.node_of(v))];
      if (definition == 0) return " comes from an operation that was erased; substitute it before";
      if (definition >= numbers_->order[index_of(n)])
        return " is used before it is defined; move its definition in front";
      if (numbers_->after[index_of(f.node_of(v))] > numbers_->order[index_of(n)])
        return " is used inside the operation that defines it; it is available only after it";
    } else if (numbers_->end[index_of(f.region_of(v))] == 0) {
      return " is an argument of a region that was erased; substitute it before";
    }
    return " belongs to a region that this operation is not nested in; let the region yield it";
  }

  // Each operation uses some attributes; the others have their defaults. Returns false if its types cannot be inferred.
  bool check_attributes(node_id n) {
    function::node const& node = (*f_)[n];
    attributes const& a = node.attributes;
    op const code = node.code;
    attributes rest = a; // unused attributes must have their defaults
    attributes const made;
    bool readable = true;
    switch (code) {
    case op::call:
    case op::closure:
      rest.subject = made.subject;
      if (code == op::call) rest.flags &= static_cast<std::uint8_t>(~attributes::exempt);
      if (a.subject >= program_.functions.size() || program_.is_erased(a.callee())) {
        wrong(n, "the function that it names does not exist; add it, or name another");
        readable = false;
      } else {
        readable = readable_[a.subject];
      }
      break;
    case op::host:
    case op::sample:
    case op::assert_:
      rest.subject = made.subject;
      if (!out_.has(a.text()))
        wrong(
            n, code == op::assert_ ? "its message does not exist; give it a text of the program"
                                   : "its name does not exist; give it a text of the program");
      else if (code != op::assert_ && program_.text(a.text()).empty())
        wrong(n, "its name is empty; give it one");
      if (code == op::host) {
        rest.effects = made.effects;
        if (a.effects > effect::ordered)
          wrong(n, "it has an effect that does not exist; `ordered` is the strongest");
      }
      if (code == op::sample) {
        rest.detail = made.detail;
        rest.count = made.count;
        if (!out_.has(a.detail)) wrong(n, "its distribution has no name; give it a text of the program");
      }
      break;
    case op::loop:
      rest.flags &= static_cast<std::uint8_t>(~attributes::reversed);
      break;
    case op::reduce:
      rest.flags &= static_cast<std::uint8_t>(~attributes::started);
      if (a.operation == op::none) rest.flags &= static_cast<std::uint8_t>(~attributes::in_lanes);
      rest.flags &= static_cast<std::uint8_t>(~attributes::in_order);
      if (a.is_in_order() && a.operation == op::none)
        wrong(n, "it combines in order, and by a region; use an operation, or a loop");
      if (a.is_in_order() && !a.is_started())
        wrong(n, "it combines in order, and has no initial value to start from; add one");
      rest.operation = made.operation;
      if (a.operation > op::none) {
        wrong(n, "the operation that combines does not exist");
        readable = false;
      } else if (
          a.operation != op::none && (!is_elementwise(a.operation) || row_of(a.operation).least != 2)) {
        wrong(
            n,
            std::string(name_of(a.operation)) +
                " does not combine two elements; use an elementwise operation of two operands, or a region");
        readable = false;
      }
      break;
    default:
      break;
    }
    if (rest != made)
      wrong(n, "it has attributes that this operation does not use; leave them at their default values");
    op_row const& row = row_of(code);
    std::uint32_t const regions = row.regions != op_row::any ? row.regions : a.operation == op::none ? 1 : 0;
    if (node.region_count != regions) {
      wrong(
          n, "it has " + counted(node.region_count, "region") + ", and must have " + std::to_string(regions));
      readable = false;
    }
    return readable;
  }

  // The results are those that type inference returns.
  bool check_types(node_id n) {
    function const& f = *f_;
    operands_.clear();
    found_.clear();
    for (value_id const v : f.operands_of(n)) operands_.push_back(f.type_of(v));
    for (value_id const v : f.results_of(n)) found_.push_back(f.type_of(v));
    expected_ = found_;
    std::string why;
    if (!infer(program_, f[n].code, operands_, f[n].attributes, expected_, why)) {
      wrong(n, why + "; convert the operand, or use another operation");
      return false;
    }
    if (f[n].region_count > 0 || f[n].code == op::reduce) return true; // checked with its regions
    if (expected_ != found_)
      wrong(n, "has results " + text_of(found_) + ", and must have " + text_of(expected_));
    return true;
  }

  // ---- regions
  void check_end(region_id r, node_id owner) {
    function const& f = *f_;
    node_id const last = f[r].last;
    if (last != nothing && f[last].code == op::yield) return;
    std::string const text =
        region(owner, r) + " does not end with a yield; add one after its last operation";
    owner == nothing ? wrong(text) : wrong(owner, text);
  }
  bool ends(region_id r) const { return yield_of(r) != nothing; }
  node_id yield_of(region_id r) const {
    node_id const last = (*f_)[r].last;
    return last != nothing && (*f_)[last].code == op::yield ? last : node_id(nothing);
  }
  type_list yielded(region_id r) const {
    type_list types;
    for (value_id const v : f_->operands_of(yield_of(r))) types.push_back(f_->type_of(v));
    return types;
  }
  void check_results(region_id body) {
    if (!ends(body)) return;
    type_list const found = yielded(body);
    if (found != f_->results)
      wrong(
          yield_of(body), "the function returns " + text_of(found) + ", and declares " +
                              text_of(f_->results) + "; change either");
  }
  void takes(node_id n, region_id r, type_list const& expected) {
    type_list found;
    for (value_id const v : f_->arguments_of(r)) found.push_back(f_->type_of(v));
    if (found != expected)
      wrong(n, region(n, r) + " takes " + text_of(found) + ", and must take " + text_of(expected));
  }
  void yields(node_id n, region_id r, type_list const& expected) {
    type_list const found = yielded(r);
    if (found != expected)
      wrong(n, region(n, r) + " yields " + text_of(found) + ", and must yield " + text_of(expected));
  }
  void gives(node_id n, type_list const& expected) {
    if (found_ != expected)
      wrong(n, "has results " + text_of(found_) + ", and must have " + text_of(expected));
  }
  // One array for each value, of the values of all iterations.
  bool stack(node_id n, std::span<type const> values, type_list& arrays) {
    for (type const t : values) {
      if (t.rank == max_rank) return wrong(n, "its result has more than 127 axes"), false;
      arrays.push_back(t.array_of());
    }
    return true;
  }

  void check_regions(node_id n) {
    function const& f = *f_;
    for (region_id const r : f.regions_of(n))
      if (!ends(r)) return;
    region_id const first{f[n].first_region};
    switch (f[n].code) {
    case op::if_:
      for (region_id const r : f.regions_of(n)) {
        takes(n, r, {});
        yields(n, r, found_);
      }
      break;
    case op::protect:
      takes(n, first, {});
      yields(n, first, found_);
      takes(n, f.region_at(n, 1), {});
      yields(n, f.region_at(n, 1), {});
      break;
    case op::loop:
      check_loop(n, first, type_list(operands_.begin() + 1, operands_.end()), true);
      break;
    case op::while_:
      takes(n, first, operands_);
      yields(n, first, {boolean});
      check_loop(n, f.region_at(n, 1), operands_, false);
      break;
    case op::map: {
      takes(n, first, {i64});
      type_list arrays;
      if (stack(n, yielded(first), arrays)) gives(n, arrays);
      break;
    }
    case op::reduce: {
      gives(n, expected_);
      if (f[n].region_count == 0) break;
      type_list pairs = expected_;
      pairs.insert(pairs.end(), expected_.begin(), expected_.end());
      takes(n, first, pairs);
      yields(n, first, expected_);
      break;
    }
    case op::accumulate: {
      type_list accumulators;
      for (type const t : operands_) accumulators.push_back(t.accumulator());
      takes(n, first, accumulators);
      type_list all = operands_;
      for (type const t : yielded(first)) all.push_back(t);
      gives(n, all);
      break;
    }
    default:
      break;
    }
  }
  // Loop-carried values have equal types around the loop; other yielded values are stacked.
  void check_loop(node_id n, region_id body, type_list const& carried, bool counted) {
    type_list arguments = carried;
    if (counted) arguments.insert(arguments.begin(), i64);
    takes(n, body, arguments);
    type_list const all = yielded(body);
    if (all.size() < carried.size() || !std::equal(carried.begin(), carried.end(), all.begin()))
      return wrong(
          n, region(n, body) + " yields " + text_of(all) +
                 ", and must first yield the loop-carried values, " + text_of(carried));
    type_list results = carried;
    if (stack(n, std::span(all).subspan(carried.size()), results)) gives(n, results);
  }

  program const& program_;
  findings& out_;
  std::vector<function_id> named_; // for each symbol: the function that has a value of this name
  std::vector<bool> readable_;     // for each function: whether calls of it can be checked
  function_id id_ = nothing;
  function const* f_ = nullptr;
  numbering const* numbers_ = nullptr;
  bool wrong_types_ = false;
  // of the current operation
  type_list operands_;
  type_list found_;
  type_list expected_;
};

} // namespace overdub::ir::detail
