#include <overdub/implementation/ir/parse/operations.hpp>
#include <overdub/ir/parse.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::ir {
namespace detail {

class program_reader : operation_reader {
public:
  program_reader(std::string_view text, parse_options const& options)
      : operation_reader(text, options.file), size_(text.size()) {}

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
  void read_program() {
    while (!in_.is_at_end()) {
      in_.begin();
      try {
        if (in_.take("func"))
          read_function();
        else if (in_.take("entry"))
          read_entry();
        else if (in_.take("math"))
          read_math();
        else
          in_.fail_expected("\"func\", \"entry\" or \"math\"");
      } catch (syntax_fault const&) {
        in_.skip_function();
      }
    }
    for (forward_call const& call : forward_calls_) resolve(call);
    for (auto const& [f, rule] : rules_) {
      p_[f].derivative.tangent = resolved(rule.tangent, rule.tangent_at);
      if (rule.cotangent != nothing) p_[f].derivative.cotangent = resolved(rule.cotangent, rule.cotangent_at);
    }
    if (entry_ == nothing) return;
    function_entry const& f = entry_of(entry_);
    if (f.id == nothing && !f.is_broken) wrong(entry_at_, no_function(entry_));
    p_.entry = f.id;
  }

  void read_entry() {
    std::uint32_t const at = offset();
    symbol const name = function_name();
    if (entry_ != nothing) return wrong(at, "the program has an entry already, " + on_line(entry_at_));
    entry_ = name;
    entry_at_ = at;
  }

  void read_math() {
    std::uint32_t const at = offset();
    std::size_t mode = 0;
    while (mode < math_mode_names.size() && !in_.take(math_mode_names[mode])) ++mode;
    if (mode == math_mode_names.size()) in_.fail_expected("\"exact\", \"consistent\" or \"fast\"");
    if (math_at_)
      return wrong(at, "the program has a mode of its mathematics already, " + on_line(*math_at_));
    p_.math = static_cast<math_mode>(mode);
    math_at_ = at;
  }

  void read_function() {
    std::uint32_t const at = offset();
    symbol const name = function_name();
    if (function_entry const& known = entry_of(name); known.id != nothing)
      wrong(at, "there is a function " + text_of_name(name) + " already, " + on_line(known.where));
    entry_of(name).is_broken = true; // until its signature is read
    names_.begin_function();
    begin_operation();
    in_.expect('(');
    read_arguments(no_initial);
    read_arrow();
    symbol const structure = in_.take("structure") ? p_.intern(in_.text()) : symbol(nothing);
    rule_names const rule = read_derivative();
    place_id const place = read_places(at);
    std::uint32_t const brace = offset();
    in_.expect('{');

    argument_types();
    function_id const id = p_.add(std::string(p_.text(name)), region_types_[0]);
    entry_of(name) = {.id = id, .where = at};
    function& f = p_[id];
    f.results = declared_;
    f.structure = structure;
    f.place = place;
    f.derivative = rule.made;
    if (rule.made.how == derivative::by::rule) rules_.push_back({id, rule});
    begin_function(id, f.results, brace);
    while (!frames_.empty()) read_in_body();
  }
  // After the results: the derivative rule of the function. Its functions may be defined below.
  struct rule_names {
    derivative made;
    symbol tangent = nothing, cotangent = nothing;
    std::uint32_t tangent_at = 0, cotangent_at = 0;
  };
  rule_names read_derivative() {
    rule_names rule;
    if (in_.take("tangent")) {
      rule.made.how = derivative::by::rule;
      rule.tangent_at = offset();
      rule.tangent = function_name();
      if (!in_.take("cotangent")) return rule;
      rule.cotangent_at = offset();
      rule.cotangent = function_name();
    } else if (in_.take("constant")) {
      rule.made.how = derivative::by::constant;
    } else if (in_.take("not_differentiable")) {
      rule.made.how = derivative::by::refused;
      rule.made.why = p_.intern(in_.text());
    }
    return rule;
  }
  function_id resolved(symbol name, std::uint32_t at) {
    function_entry const& f = entry_of(name);
    if (f.id == nothing && !f.is_broken) wrong(at, no_function(name));
    return f.id;
  }

  void read_in_body() {
    if (in_.is_at_end() || in_.is_at_word("func")) {
      std::string const found = in_.is_at_end() ? "the end of the text" : "\"func\"";
      std::uint32_t const begin = frames_.back().where;
      frames_.clear();
      return wrong(
          offset(), "expected \"}\" for the block that begins " + on_line(begin) + ", found " + found);
    }
    begin_operation();
    try {
      if (in_.peek() == '}')
        end_region();
      else
        read_operation();
    } catch (syntax_fault const&) {
      break_results();
      in_.skip_operation();
      if (in_.peek() == '}') frames_.back().ended = true; // the skipped text may have been its end
    }
  }

  std::size_t size_;
  symbol entry_ = nothing;
  std::uint32_t entry_at_ = 0;
  std::optional<std::uint32_t> math_at_;
  std::vector<std::pair<function_id, rule_names>> rules_;
};

} // namespace detail

program parse(std::string_view text, parse_options const& options) {
  return detail::program_reader(text, options).run();
}

} // namespace overdub::ir
