// From the text of a program to the program: what print.hpp writes, and what is written by hand. docs/ir.md has the grammar.
#pragma once

#include <overdub/ir/cursor.hpp>
#include <overdub/ir/parse/reader.hpp>
#include <overdub/ir/print.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::ir {
namespace detail {

class parser : reader {
public:
  explicit parser(std::string_view text) : reader(text), size_(text.size()) {}

  program run() {
    try {
      if (size_ > std::numeric_limits<std::uint32_t>::max())
        wrong(0, "the text is longer than 4 GiB; split it into several programs");
      else
        read_program();
    } catch (too_many_faults const&) {
    }
    if (!in_.faults().empty()) in_.faults().report();
    return std::move(p_);
  }

private:
  using state = name_binding::state;

  // What the text of an operation names in front of its =, or a region in its brackets.
  struct named {
    std::uint32_t binding;
    std::uint32_t where;
    type of{};
  };
  // A region that is being read.
  struct frame {
    region_id region;
    node_id owner;
    std::uint32_t where;        // its brace
    std::size_t first_expected; // what it must yield
    std::size_t first_pending;  // the results of its operation
    bool ended = false;         // by a yield
  };
  // A call of a function that is defined further on.
  struct forward_call {
    function_id in;
    node_id node;
    symbol callee;
    std::uint32_t where;
    std::uint32_t types_at;
    bool is_tainted;
  };

  // ---- programs and functions
  void read_program() {
    while (!in_.is_at_end()) {
      try {
        if (in_.take("func"))
          read_function();
        else if (in_.take("entry"))
          read_entry();
        else
          in_.fail_expected("\"func\" or \"entry\"");
      } catch (syntax_fault const&) {
        in_.skip_function();
      }
    }
    try {
      for (forward_call const& call : forward_calls_) resolve(call);
      if (entry_ != nothing) {
        function_entry const& f = entry_of(entry_);
        if (f.id == nothing && !f.is_broken) wrong(entry_at_, no_function(entry_));
        p_.entry = f.id;
      }
    } catch (syntax_fault const&) {
    }
  }
  void read_entry() {
    std::uint32_t const at = offset();
    symbol const name = function_name();
    if (entry_ != nothing) in_.fail(at, "the program has an entry already, " + on_line(entry_at_));
    entry_ = name;
    entry_at_ = at;
  }
  void read_function() {
    std::uint32_t const at = offset();
    symbol const name = function_name();
    if (function_entry const& known = entry_of(name); known.id != nothing)
      wrong(at, "there is a function " + text_of_name(name) + " already, " + on_line(known.where));
    entry_of(name).is_broken = true;
    names_.begin_function();
    arguments_.clear();
    in_.expect('(');
    if (!in_.take(')')) read_arguments(none, ')');
    type_list results;
    if (in_.take_arrow()) read_results(results);
    symbol const structure = in_.take("structure") ? p_.intern(in_.text()) : symbol(nothing);
    place_id const place = read_places();
    std::uint32_t const brace = offset();
    in_.expect('{');

    argument_types();
    function_ = p_.add(std::string(p_.text(name)), region_types_[0]);
    function& f = p_[function_];
    f.results = results;
    f.structure = structure;
    f.place = place;
    entry_of(name) = {.id = function_, .where = at};
    c_.emplace(p_, function_, function::body);
    frames_.clear();
    pending_.clear();
    expected_ = results;
    frames_.push_back(
        {.region = function::body,
         .owner = nothing,
         .where = brace,
         .first_expected = 0,
         .first_pending = 0});
    bind_arguments(function::body);
    while (!frames_.empty()) read_in_region();
  }
  void read_in_region() {
    frame& top = frames_.back();
    if (in_.is_at_end() || in_.is_at_word("func")) {
      std::uint32_t const begin = top.where;
      frames_.clear();
      wrong(
          in_.offset(), "expected \"}\" for the block that begins " + on_line(begin) + ", found " +
                            (in_.is_at_end() ? "the end of the text" : "\"func\""));
      return;
    }
    heads_.clear();
    try {
      if (in_.peek() == '}')
        end_region();
      else
        read_operation();
    } catch (syntax_fault const&) {
      for (named const& n : heads_) break_name(n.binding);
      in_.skip_operation();
    }
  }

  // ---- names of values
  void break_name(std::uint32_t binding) {
    name_binding& b = names_[binding];
    if (b.is == state::unknown || b.is == state::open) b.is = state::broken;
  }
  named read_name() {
    std::uint32_t const at = offset();
    return {.binding = names_.find(in_.name()), .where = at};
  }
  void bind(named const& n, value_id v, region_id r, state is) {
    name_binding& b = names_[n.binding];
    if (b.is == state::known || b.is == state::open)
      return wrong(n.where, "%" + clipped(b.text) + " is defined already, " + on_line(b.where));
    b.value = v;
    b.region = r;
    b.depth = static_cast<std::uint32_t>(frames_.size());
    b.where = n.where;
    b.is = is;
    if (is_a(b.text[0], is_letter)) c_->set_name(v, symbol_of(b));
  }
  static std::string clipped(std::string_view text) { return std::string(text.substr(0, 100)); }

  value_id read_operand() {
    if (in_.peek() == '%') {
      std::uint32_t const at = offset();
      name_binding& b = names_[names_.find(in_.name())];
      if (b.is == state::known && b.depth <= frames_.size() && frames_[b.depth - 1].region == b.region)
        return b.value;
      refuse(at, b);
      is_tainted_ = true;
      return c_->literal(false); // the program is not returned
    }
    if (!in_.is_at_literal()) in_.fail_expected("a value");
    literal_value const x = in_.literal();
    return c_->literal(x.of, x.bits);
  }
  void refuse(std::uint32_t at, name_binding& b) {
    if (b.is == state::broken) return;
    std::string const name = "%" + clipped(b.text);
    if (b.is == state::unknown) {
      wrong(at, name + " is not defined; values are defined before they are used");
      b.is = state::broken;
    } else if (b.is == state::open)
      wrong(at, name + " is used inside of the operation that it comes from; it is known behind it");
    else
      wrong(at, name + " belongs to a region that has ended; let the region yield it");
  }
  bool is_at_operand() const { return in_.peek() == '%' || in_.is_at_literal(); }
  void add_operand() {
    operand_at_.push_back(offset());
    operands_.push_back(read_operand());
  }
  void read_operands() {
    do add_operand();
    while (in_.take(','));
  }
  void read_operands_in_brackets() {
    in_.expect('(');
    if (in_.take(')')) return;
    read_operands();
    in_.expect(')');
  }

  // ---- operations
  void read_operation() {
    operands_.clear();
    operand_at_.clear();
    declared_.clear();
    arguments_.clear();
    is_tainted_ = false;
    if (in_.peek() == '%') {
      do {
        if (in_.peek() != '%') in_.fail_expected("the name of a result");
        heads_.push_back(read_name());
      } while (in_.take(','));
      in_.expect('=');
    }
    at_ = offset();
    if (frames_.back().ended) in_.fail_expected("\"}\" behind the end of the block");
    std::string_view const word = in_.word();
    if (word.empty()) in_.fail_expected(heads_.empty() ? "an operation or \"}\"" : "an operation");
    op const code = word == "return" ? op::yield : ops_by_name.find(word);
    switch (code) {
    case op::none:
      refuse_word(word);
    case op::yield:
      return read_yield(word == "return");
    case op::call:
    case op::closure:
      return read_call(code);
    case op::apply:
      add_operand();
      read_operands_in_brackets();
      read_declared();
      return (void)insert(code);
    case op::host:
      return read_host();
    case op::sample:
      return read_sample();
    case op::assert_: {
      add_operand();
      in_.expect(',');
      symbol const text = p_.intern(in_.text());
      return (void)insert(code, attributes::of(text));
    }
    case op::if_:
      add_operand();
      read_arrow();
      return open(code, {}, 2);
    case op::protect:
      read_arrow();
      return open(code, {}, 2);
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
      if (is_at_operand()) read_operands();
      read_declared();
      (void)insert(code);
    }
  }
  [[noreturn]] void refuse_word(std::string_view word) {
    nearest_word nearest(word);
    for (op_row const& row : rows) nearest.try_word(row.name);
    nearest.try_word("return");
    in_.fail(at_, "there is no operation " + quoted(word) + nearest.suggestion());
  }

  // : and the types of the results
  void read_declared() {
    types_at_ = offset();
    if (in_.take(':'))
      read_types(declared_);
    else if (!heads_.empty())
      in_.fail_expected("\":\" and the types of the results");
  }
  void read_arrow() {
    types_at_ = offset();
    if (in_.take_arrow()) read_results(declared_);
  }

  void read_yield(bool returns) {
    bool const in_body = frames_.back().owner == nothing;
    if (returns != in_body)
      wrong(
          at_, in_body ? "a function ends with return, and not with yield"
                       : "a region ends with yield; return ends a function");
    if (!heads_.empty()) wrong(heads_[0].where, "the end of a block gives no results");
    if (is_at_operand()) read_operands();
    place_id const place = read_places();
    check_yield();
    c_->set_place(place);
    c_->yield(operands_);
    frames_.back().ended = true;
  }
  void check_yield() {
    std::span<type const> const wanted = std::span(expected_).subspan(frames_.back().first_expected);
    std::string const what = frames_.back().owner == nothing ? "the function returns " : "the region yields ";
    if (operands_.size() != wanted.size())
      return wrong(
          at_, what + amount(operands_.size(), "value") + ", and must give " + std::to_string(wanted.size()) +
                   ", " + text_of(wanted));
    for (std::size_t i = 0; i < wanted.size() && !is_tainted_; ++i)
      if (type const t = (*c_)->type_of(operands_[i]); t != wanted[i])
        wrong(
            operand_at_[i], what + ir::text_of(p_, t) + " here, and must give " + ir::text_of(p_, wanted[i]));
  }

  void read_call(op code) {
    symbol const name = function_name();
    read_operands_in_brackets();
    read_declared();
    function_entry const callee = entry_of(name);
    if (callee.id != nothing) return (void)insert(code, attributes::of(callee.id));
    bool const tainted = std::exchange(is_tainted_, true); // it is checked when all functions are known
    std::uint32_t const at = at_;
    std::uint32_t const types_at = types_at_;
    node_id const n = insert(code);
    forward_calls_.push_back({function_, n, name, at, types_at, tainted});
  }
  void resolve(forward_call const& call) {
    function_entry const& callee = entry_of(call.callee);
    if (callee.is_broken) return;
    if (callee.id == nothing) return wrong(call.where, no_function(call.callee));
    cursor c(p_, call.in, function::body);
    c.attributes_of(call.node) = attributes::of(callee.id);
    if (call.is_tainted) return;
    function const& f = p_[call.in];
    operand_types_.clear();
    declared_.clear();
    for (value_id const v : f.operands_of(call.node)) operand_types_.push_back(f.type_of(v));
    for (value_id const v : f.results_of(call.node)) declared_.push_back(f.type_of(v));
    at_ = call.where;
    types_at_ = call.types_at;
    check_types(f[call.node].code, f[call.node].attributes);
  }

  void read_host() {
    std::size_t const at = in_.offset();
    std::string_view const word = in_.word();
    auto const found = std::find(effect_names.begin(), effect_names.end(), word);
    if (found == effect_names.end()) {
      if (word.empty()) in_.fail_expected("the effect of a host function, as in host pure \"name\"()");
      in_.fail(
          at, "there is no effect " + quoted(word) +
                  "; write pure, may_fail, reads_context, addressed, accumulates or ordered");
    }
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

  // ---- operations with regions
  static constexpr std::size_t none = ~std::size_t{};

  // (%i: i64, %x: f64 = %start): behind the bracket. The arguments from `first_initial` on have initial values.
  void read_arguments(std::size_t first_initial, char end) {
    do {
      if (in_.peek() != '%') in_.fail_expected("the name of an argument");
      named argument = read_name();
      in_.expect(':');
      argument.of = read_type();
      if (arguments_.size() >= first_initial) {
        in_.expect('=');
        add_operand();
      }
      arguments_.push_back(argument);
    } while (in_.take(','));
    in_.expect(end);
  }
  void read_region_arguments(std::size_t first_initial) {
    arguments_at_ = offset();
    if (in_.take('(') && !in_.take(')')) read_arguments(first_initial, ')');
  }
  // The types of arguments_, for the first region.
  void argument_types() {
    region_types_[0].clear();
    for (named const& a : arguments_) region_types_[0].push_back(a.of);
  }
  void bind_arguments(region_id r) {
    id_range<value_id> const values = (*c_)->arguments_of(r);
    for (std::size_t i = 0; i < arguments_.size(); ++i) bind(arguments_[i], values[i], r, state::known);
  }
  void must_take(std::span<type const> wanted) {
    bool same = wanted.size() == arguments_.size();
    for (std::size_t i = 0; same && i < wanted.size(); ++i) same = wanted[i] == arguments_[i].of;
    if (same || is_tainted_) return;
    argument_types();
    wrong(
        arguments_at_,
        "the region takes " + text_of(region_types_[0]) + ", and must take " + text_of(wanted));
  }
  type operand_type(std::size_t i) const { return (*c_)->type_of(operands_[i]); }

  void read_loop(op code) {
    attributes a;
    std::size_t const first = code == op::loop ? 1 : 0; // behind the number of iterations
    if (code == op::loop) {
      if (in_.take("reversed")) a.flags = attributes::reversed;
      add_operand();
    }
    read_region_arguments(first);
    std::size_t const carried = operands_.size() - first;
    wanted_.assign(first, i64);
    for (std::size_t i = 0; i < carried; ++i) wanted_.push_back(operand_type(first + i));
    must_take(wanted_);
    read_arrow();
    if (declared_.size() != carried)
      in_.fail(
          types_at_, std::string(ir::name_of(code)) + ": carries " + amount(carried, "value") + ", and " +
                         std::to_string(declared_.size()) +
                         " are declared; those of each iteration stand behind \"stack\"");
    for (std::size_t i = 0; i < carried && !is_tainted_; ++i)
      if (declared_[i] != operand_type(first + i))
        wrong(
            types_at_, std::string(ir::name_of(code)) + ": carries " +
                           ir::text_of(p_, operand_type(first + i)) + ", and " +
                           ir::text_of(p_, declared_[i]) + " is declared");
    std::uint32_t const stack_at = offset();
    if (in_.take("stack")) read_results(declared_);
    for (std::size_t i = carried; i < declared_.size(); ++i) declared_[i] = row_array(stack_at, declared_[i]);
    argument_types();
    region_types_[1] = region_types_[0];
    open(code, a, code == op::loop ? 1 : 2);
  }
  void read_map() {
    add_operand();
    read_region_arguments(none);
    must_take(std::span(&i64, 1));
    read_arrow();
    for (type& t : declared_) t = row_array(types_at_, t);
    argument_types();
    open(op::map, {}, 1);
  }
  void read_reduce() {
    attributes a;
    if (!is_at_operand()) {
      if (in_.take("in_lanes"))
        a.flags = attributes::in_lanes;
      else {
        at_ = offset();
        std::string_view const word = in_.word();
        if (word.empty()) in_.fail_expected("an operation that combines, or an array");
        a.operation = ops_by_name.find(word);
        if (a.operation == op::none) refuse_word(word);
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
            from_at, "reduce: " + amount(arrays, "array") + " and " +
                         amount(operands_.size() - arrays, "initial value") + "; each array has one");
    }
    if (a.operation != op::none) {
      read_declared();
      return (void)insert(op::reduce, a);
    }
    if (in_.peek() != '(') in_.fail_expected("\"(\" and the arguments of a region, which combines");
    read_region_arguments(none);
    read_arrow();
    wanted_ = declared_;
    wanted_.insert(wanted_.end(), declared_.begin(), declared_.end());
    must_take(wanted_);
    argument_types();
    open(op::reduce, a, 1);
  }
  void read_accumulate() {
    read_region_arguments(0);
    wanted_.clear();
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      type const t = operand_type(i);
      if (!t.is_array() && !is_tainted_)
        in_.fail(operand_at_[i], "accumulate: starts as an array, and is given " + ir::text_of(p_, t));
      wanted_.push_back(t.accumulator());
    }
    must_take(wanted_);
    read_arrow();
    if (declared_.size() < operands_.size())
      in_.fail(
          types_at_, "accumulate: gives at least " + amount(operands_.size(), "array") + ", and " +
                         std::to_string(declared_.size()) + " are declared");
    argument_types();
    open(op::accumulate, {}, 1);
  }

  // Inserts an operation, and goes into its first region; the types of arguments are in region_types_.
  void open(op code, attributes const& a, std::size_t regions) {
    if (arguments_.empty()) region_types_[0].clear(), region_types_[1].clear();
    place_ = read_places();
    std::uint32_t const brace = offset();
    if (in_.peek() != '{') in_.fail_expected("\"{\"");
    if (frames_.size() >= max_nesting)
      in_.fail(
          brace, "blocks are nested more than " + std::to_string(max_nesting) +
                     " deep; make functions of the inner ones");
    std::size_t const pending = pending_.size();
    node_id const n = insert(code, a, std::span(region_types_).first(regions));
    in_.expect('{');
    enter(n, 0, brace, pending);
  }
  void enter(node_id n, std::uint32_t index, std::uint32_t brace, std::size_t pending) {
    region_id const r = (*c_)->region_at(n, index);
    frames_.push_back(
        {.region = r,
         .owner = n,
         .where = brace,
         .first_expected = expected_.size(),
         .first_pending = pending});
    expect_yield(n, index);
    bind_arguments(r);
    c_->to_end(r);
  }
  // What the region must yield follows from the results of the operation.
  void expect_yield(node_id n, std::uint32_t index) {
    function const& f = **c_;
    function::node const& node = f[n];
    auto const results = f.results_of(n);
    std::size_t whole = results.size(); // so many as they are, the others are stacked
    std::size_t first = 0;
    switch (node.code) {
    case op::loop:
      whole = node.operand_count - 1;
      break;
    case op::while_:
      if (index == 0) return expected_.push_back(boolean);
      whole = node.operand_count;
      break;
    case op::map:
      whole = 0;
      break;
    case op::accumulate:
      first = node.operand_count;
      break;
    case op::protect:
      if (index == 1) return;
      break;
    default:
      break;
    }
    for (std::size_t i = first; i < results.size(); ++i) {
      type const t = f.type_of(results[i]);
      expected_.push_back(i < whole ? t : t.element_type());
    }
  }
  void end_region() {
    frame const top = frames_.back();
    if (!top.ended)
      wrong(
          in_.offset(), top.owner == nothing ? "a function ends with return; write it in front of the \"}\""
                                             : "a region ends with yield; write it in front of the \"}\"");
    (void)in_.take('}');
    frames_.pop_back();
    if (top.owner == nothing) return;
    expected_.resize(top.first_expected);
    function const& f = **c_;
    function::node const& owner = f[top.owner];
    c_->to_end(owner.parent);
    std::uint32_t const following = index_of(top.region) - owner.first_region + 1;
    if (following < owner.region_count) try {
        read_second_region(top, following);
        return;
      } catch (syntax_fault const&) {
        known_from(top.first_pending);
        throw;
      }
    known_from(top.first_pending);
  }
  void read_second_region(frame const& before, std::uint32_t index) {
    op const code = (**c_)[before.owner].code;
    std::string_view const word = second_region_word(code);
    if (!in_.take(word)) in_.fail_expected(quoted(word));
    arguments_.clear();
    is_tainted_ = false;
    if (code == op::while_) read_region_arguments(none);
    wanted_.clear();
    for (value_id const v : (*c_)->arguments_of((*c_)->region_at(before.owner, index)))
      wanted_.push_back((*c_)->type_of(v));
    if (wanted_.size() != arguments_.size()) {
      argument_types();
      in_.fail(
          arguments_at_,
          "the region takes " + text_of(region_types_[0]) + ", and must take " + text_of(wanted_));
    }
    must_take(wanted_);
    std::uint32_t const brace = offset();
    in_.expect('{');
    enter(before.owner, index, brace, before.first_pending);
  }
  // The results of operations whose regions have ended.
  void known_from(std::size_t first) {
    for (std::size_t i = first; i < pending_.size(); ++i)
      if (names_[pending_[i]].is == state::open) names_[pending_[i]].is = state::known;
    pending_.resize(first);
  }

  // ---- inserting
  node_id insert(op code, attributes const& a = {}, std::span<type_list const> regions = {}) {
    if (regions.empty()) place_ = read_places();
    if (heads_.size() != declared_.size())
      in_.fail(
          declared_.empty() ? at_ : types_at_, amount(heads_.size(), "result") + " named, and " +
                                                   amount(declared_.size(), "type") +
                                                   " declared; each result has both");
    if (!is_tainted_) {
      operand_types_.clear();
      for (value_id const v : operands_) operand_types_.push_back((*c_)->type_of(v));
      check_types(code, a);
    }
    c_->set_place(place_);
    node_id const n = c_->insert(code, operands_, declared_, a, regions);
    auto const results = (*c_)->results_of(n);
    region_id const r = frames_.back().region;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      bind(heads_[i], results[i], r, regions.empty() ? state::known : state::open);
      if (!regions.empty()) pending_.push_back(heads_[i].binding);
    }
    return n;
  }
  // The operands fit the operation, and its results are those declared.
  void check_types(op code, attributes const& a) {
    found_ = declared_;
    std::string why;
    if (!infer(p_, code, operand_types_, a, found_, why)) return wrong(at_, std::move(why));
    bool const fits = code == op::accumulate ? std::equal(found_.begin(), found_.end(), declared_.begin())
                                             : found_ == declared_;
    if (!fits)
      wrong(
          types_at_, std::string(ir::name_of(code)) + ": gives " + text_of(found_) + ", and " +
                         text_of(declared_) + " is declared");
  }

  std::size_t size_;
  symbol entry_ = nothing;
  std::uint32_t entry_at_ = 0;
  std::vector<forward_call> forward_calls_;

  // the function
  function_id function_ = nothing;
  std::optional<cursor> c_;
  std::vector<frame> frames_;
  std::vector<type> expected_;         // of all frames
  std::vector<std::uint32_t> pending_; // bindings of results, of all frames

  // the operation
  std::uint32_t at_ = 0; // its name
  std::uint32_t types_at_ = 0;
  std::uint32_t arguments_at_ = 0;
  bool is_tainted_ = false; // an operand is wrong: its type is not known
  place_id place_ = nothing;
  std::vector<named> heads_;
  std::vector<named> arguments_;
  std::vector<value_id> operands_;
  std::vector<std::uint32_t> operand_at_;
  type_list declared_;
  type_list operand_types_;
  type_list found_;
  type_list wanted_;
  std::array<type_list, 2> region_types_;
};

} // namespace detail

/// The program that a text is. Throws parse_error with what is wrong: at most 20 things, each with its line and column.
/// What is not a matter of the text is left to the verifier. O(text); thread-safe.
inline program parse(std::string_view text) { return detail::parser(text).run(); }

} // namespace overdub::ir
