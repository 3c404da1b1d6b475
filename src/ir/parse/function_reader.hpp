// The state of a function while it is parsed: names of values, open regions, and insertion of operations. operations.hpp
// has the syntax of each operation.
#pragma once

#include <overdub/implementation/ir/keywords.hpp>
#include <overdub/implementation/ir/parse/reader.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/regions.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::ir::detail {

class function_reader : protected reader {
protected:
  using reader::reader;
  using state = name_binding::state;

  // A name before the =, or in the brackets of a region.
  struct named {
    std::uint32_t binding;
    std::uint32_t where;
    type of{};
  };
  // An open region.
  struct frame {
    region_id region;
    node_id owner;
    std::uint32_t where;        // the offset of its opening brace
    std::size_t first_expected; // the position in expected_ of the first type that it must yield
    std::size_t first_pending;  // the position in pending_ of the first result of its operation
    bool ended = false;         // it has a yield
  };

  /// Begins the body of a function after its signature. `results` has the result types, and arguments_ the parameters.
  void begin_function(function_id f, type_list const& results, std::uint32_t brace) {
    c_.emplace(p_, f, function::body);
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
  }
  /// Clears the state of the current operation.
  void begin_operation() {
    in_.begin();
    heads_.clear();
    arguments_.clear();
    operands_.clear();
    operand_at_.clear();
    declared_.clear();
    is_tainted_ = false;
  }

  // ---- names
  named read_name() {
    std::uint32_t const at = offset();
    return {.binding = names_.find(in_.name()), .where = at};
  }
  void bind(named const& n, value_id v, region_id r, state is) {
    name_binding& b = names_[n.binding];
    if (b.is == state::known || b.is == state::open)
      return wrong(n.where, text_of(b) + " is defined already, " + on_line(b.where));
    b.value = v;
    b.region = r;
    b.depth = static_cast<std::uint32_t>(frames_.size());
    b.where = n.where;
    b.is = is;
    if (is_a(b.text[0], is_letter)) c_->set_name(v, symbol_of(b));
  }
  // Marks the results of an operation that could not be parsed, so that no errors about their uses are reported.
  void break_results() {
    for (named const& n : heads_)
      if (name_binding& b = names_[n.binding]; b.is == state::unknown) b.is = state::broken;
  }
  static std::string text_of(name_binding const& b) { return "%" + std::string(b.text.substr(0, 100)); }
  using reader::text_of;

  // ---- operands
  value_id read_operand() {
    if (in_.peek() == '%') {
      std::uint32_t const at = offset();
      name_binding& b = names_[names_.find(in_.name())];
      if (b.is == state::known && b.depth <= frames_.size() && frames_[b.depth - 1].region == b.region)
        return b.value;
      refuse(at, b);
      is_tainted_ = true;
      return c_->literal(false); // any value: a program with an error is not returned
    }
    if (!in_.is_at_literal()) in_.fail_expected("a value");
    literal_value const x = in_.literal();
    return c_->literal(x.of, x.bits);
  }
  void add_operand() {
    operand_at_.push_back(offset());
    operands_.push_back(read_operand());
  }
  /// Whether an operand without brackets follows: such operands end at the end of the line.
  bool is_at_operand() const { return (in_.peek() == '%' || in_.is_at_literal()) && !in_.line_ended(); }
  void read_operands() {
    do {
      if (in_.line_ended()) in_.fail_expected("a value");
      add_operand();
    } while (in_.take(','));
  }
  void read_operands_in_brackets() {
    in_.expect('(');
    if (in_.take(')')) return;
    do add_operand();
    while (in_.take(','));
    in_.expect(')');
  }
  type operand_type(std::size_t i) const { return (*c_)->type_of(operands_[i]); }

  // ---- types of results
  /// Reads the types of the results, after `:`.
  void read_declared() {
    types_at_ = offset();
    if (in_.take(':'))
      read_types(declared_);
    else if (!heads_.empty())
      in_.fail_expected("\":\" and the types of the results");
  }
  /// Reads the types of the results, after `->`.
  void read_arrow() {
    types_at_ = offset();
    if (in_.take_arrow()) read_results(declared_);
  }

  // ---- arguments
  static constexpr std::size_t no_initial = ~std::size_t{};

  /// Reads arguments such as `%i: i64, %x: f64 = %start)`, after the opening bracket. Those from `first_initial` on have initial values.
  void read_arguments(std::size_t first_initial) {
    if (in_.take(')')) return;
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
    in_.expect(')');
  }
  void read_region_arguments(std::size_t first_initial) {
    arguments_at_ = offset();
    if (in_.take('(')) read_arguments(first_initial);
  }
  void must_take(std::span<type const> wanted) {
    argument_types();
    if (is_tainted_ ||
        std::equal(wanted.begin(), wanted.end(), region_types_[0].begin(), region_types_[0].end()))
      return;
    wrong(
        arguments_at_,
        "the region takes " + text_of(region_types_[0]) + ", and must take " + text_of(wanted));
  }
  /// Sets the types of the first region's arguments to those of arguments_.
  void argument_types() {
    region_types_[0].clear();
    for (named const& a : arguments_) region_types_[0].push_back(a.of);
  }
  void bind_arguments(region_id r) {
    id_range<value_id> const values = (*c_)->arguments_of(r);
    for (std::size_t i = 0; i < arguments_.size(); ++i) bind(arguments_[i], values[i], r, state::known);
  }

  // ---- inserting
  /// Reads source locations, and inserts the operation that was read.
  node_id insert(op code, attributes const& a = {}, std::span<type_list const> regions = {}) {
    place_id const place = read_places(at_);
    if (!regions.empty() && in_.peek() != '{') in_.fail_expected("\"{\"");
    if (!regions.empty() && frames_.size() >= max_nesting)
      in_.fail(
          offset(), "blocks are nested more than " + std::to_string(max_nesting) +
                        " deep; make functions of the inner ones");
    if (heads_.size() != declared_.size())
      in_.fail(
          declared_.empty() ? at_ : types_at_, std::string(ir::name_of(code)) + ": " +
                                                   counted(heads_.size(), "result") + " named, and " +
                                                   counted(declared_.size(), "type") + " declared");
    if (!is_tainted_) {
      checked_.operands.clear();
      for (value_id const v : operands_) checked_.operands.push_back((*c_)->type_of(v));
      check_types(code, a);
    }
    c_->set_place(place);
    node_id const n = c_->insert(code, operands_, declared_, a, regions);
    id_range<value_id> const results = (*c_)->results_of(n);
    region_id const r = frames_.back().region;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      bind(heads_[i], results[i], r, regions.empty() ? state::known : state::open);
      if (!regions.empty()) pending_.push_back(heads_[i].binding);
    }
    return n;
  }
  /// Checks the operands in checked_.operands, and the declared results.
  void check_types(op code, attributes const& a) {
    checked_.found = declared_;
    std::string why;
    if (!infer(p_, code, checked_.operands, a, checked_.found, why)) return wrong(at_, std::move(why));
    bool const fits = code == op::accumulate // its region determines the others
                          ? std::equal(checked_.found.begin(), checked_.found.end(), declared_.begin())
                          : checked_.found == declared_;
    if (!fits)
      wrong(
          types_at_, std::string(ir::name_of(code)) + ": returns " + text_of(checked_.found) + ", and " +
                         text_of(declared_) + " is declared");
  }
  /// Inserts an operation, and enters its first region. The types of the regions' arguments are in region_types_.
  void open(op code, attributes const& a, std::size_t regions) {
    std::size_t const pending = pending_.size();
    node_id const n = insert(code, a, std::span(region_types_).first(regions));
    enter(n, 0, pending);
  }
  void enter(node_id n, std::uint32_t index, std::size_t pending) {
    std::uint32_t const brace = offset();
    in_.expect('{');
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

  // ---- the ends of regions
  void insert_yield() {
    std::span<type const> const wanted = std::span(expected_).subspan(frames_.back().first_expected);
    auto const must_yield = [&](std::string const& found, std::string const& expected) {
      bool const in_body = frames_.back().owner == nothing;
      return (in_body ? "the function returns " : "the region yields ") + found +
             (in_body ? ", and must return " : ", and must yield ") + expected;
    };
    if (operands_.size() != wanted.size())
      wrong(
          at_,
          must_yield(
              counted(operands_.size(), "value"), std::to_string(wanted.size()) + ", " + text_of(wanted)));
    else
      for (std::size_t i = 0; i < wanted.size() && !is_tainted_; ++i)
        if (type const t = operand_type(i); t != wanted[i])
          wrong(operand_at_[i], must_yield(ir::text_of(p_, t) + " here", ir::text_of(p_, wanted[i])));
    c_->set_place(read_places(at_));
    c_->yield(operands_);
    frames_.back().ended = true;
  }
  /// Reads a closing brace, and ends the innermost region or enters the operation's second one.
  void end_region() {
    frame const top = frames_.back();
    if (!top.ended)
      wrong(
          in_.offset(), top.owner == nothing ? "a function ends with return; write it before the \"}\""
                                             : "a region ends with yield; write it before the \"}\"");
    (void)in_.take('}');
    frames_.pop_back();
    if (top.owner == nothing) return;
    expected_.resize(top.first_expected);
    function::node const& owner = (**c_)[top.owner];
    c_->to_end(owner.parent);
    std::uint32_t const following = index_of(top.region) - owner.first_region + 1;
    if (following == owner.region_count) return end_results(top.first_pending);
    try {
      read_second_region(top, following);
    } catch (syntax_fault const&) {
      end_results(top.first_pending);
      throw;
    }
  }

private:
  void refuse(std::uint32_t at, name_binding& b) {
    if (b.is == state::broken) return;
    if (b.is == state::unknown) {
      wrong(at, text_of(b) + " is not defined; values are defined before they are used");
      b.is = state::broken;
    } else if (b.is == state::open)
      wrong(at, text_of(b) + " is used inside the operation that defines it; it is available after it");
    else
      wrong(at, text_of(b) + " belongs to a region that has ended; let the region yield it");
  }
  // Appends the types that a region must yield to expected_. The results of its operation determine them.
  void expect_yield(node_id n, std::uint32_t index) {
    function const& f = **c_;
    region_flow const flow(f, n);
    if (!flow.yields_results(f.region_at(n, index))) {
      if (carries_values(f[n].code)) expected_.push_back(boolean); // a condition
      return;
    }
    for (std::uint32_t i = flow.first_yielded(); i < f[n].result_count; ++i) {
      type const t = f.type_of(f.result(n, i));
      expected_.push_back(flow.is_stacked(i) ? t.element_type() : t);
    }
  }
  void read_second_region(frame const& before, std::uint32_t index) {
    op const code = (**c_)[before.owner].code;
    std::string_view const word = second_region_word(code);
    if (!in_.take(word)) in_.fail_expected(quoted(word));
    if (code == op::while_) read_region_arguments(no_initial);
    checked_.wanted.clear();
    for (value_id const v : (*c_)->arguments_of((*c_)->region_at(before.owner, index)))
      checked_.wanted.push_back((*c_)->type_of(v));
    must_take(checked_.wanted);
    if (arguments_.size() != checked_.wanted.size()) throw syntax_fault(); // this was reported
    enter(before.owner, index, before.first_pending);
  }
  // Binds the results of an operation after its regions.
  void end_results(std::size_t first) {
    for (std::size_t i = first; i < pending_.size(); ++i)
      if (names_[pending_[i]].is == state::open) names_[pending_[i]].is = state::known;
    pending_.resize(first);
  }

  std::vector<type> expected_;         // the types that the open regions must yield
  std::vector<std::uint32_t> pending_; // the bindings of results of operations with open regions

protected:
  std::optional<cursor> c_;
  std::vector<frame> frames_;

  // the current operation
  std::uint32_t at_ = 0; // the offset of its name
  std::uint32_t types_at_ = 0;
  std::uint32_t arguments_at_ = 0;
  bool is_tainted_ = false; // an operand is wrong: its type is unknown
  std::vector<named> heads_;
  std::vector<named> arguments_;
  std::vector<value_id> operands_;
  std::vector<std::uint32_t> operand_at_;
  type_list declared_; // types of results
  std::array<type_list, 2> region_types_;
  // scratch memory
  // types that a check compares, kept for their memory
  struct {
    type_list operands, found, wanted;
  } checked_;
};

} // namespace overdub::ir::detail
