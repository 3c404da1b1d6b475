#include <overdub/ir/function_types.hpp>
#include <overdub/ir/infer.hpp>
#include <overdub/ir/type_text.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace overdub::ir {
namespace detail {

// The input and output of a type rule.
struct rule_call {
  program const& owner;
  op code;
  std::span<type const> operands;
  attributes const& says;
  std::vector<type>& results; // declared types, if the rule does not infer them
  std::string why;            // the error

  bool fail(std::string sentence) {
    why = std::move(sentence);
    return false;
  }
  // The i-th operand has a wrong type.
  bool refuse(std::size_t i, std::string_view wanted) {
    return fail(
        std::string(name_of(code)) + ": operand " + std::to_string(i + 1) + " is " +
        text_of(owner, operands[i]) + ", and must be " + std::string(wanted));
  }
  bool give(type t) {
    results.assign(1, t);
    return true;
  }
  bool is(std::size_t i, type wanted) { return operands[i] == wanted || refuse(i, text_of(owner, wanted)); }
  // The result is an array of this type, one rank higher.
  bool give_array_of(type t) {
    if (t.rank == max_rank)
      return fail(
          std::string(name_of(code)) + ": an array of more than " + std::to_string(max_rank) + " axes");
    return give(t.array_of());
  }
  bool integers_from(std::size_t first) {
    for (std::size_t i = first; i < operands.size(); ++i)
      if (!is(i, i64)) return false;
    return true;
  }
  // Checks that all operands from the first-th on have equal types.
  bool alike(std::size_t first) {
    for (std::size_t i = first + 1; i < operands.size(); ++i)
      if (operands[i] != operands[first])
        return refuse(i, text_of(owner, operands[first]) + " like operand " + std::to_string(first + 1));
    return true;
  }
  bool array(std::size_t i, int rank = 1) {
    if (!operands[i].is_array()) return refuse(i, "an array");
    if (operands[i].rank < rank)
      return fail(
          std::string(name_of(code)) + ": " + std::to_string(rank) + " indices into an array of rank " +
          std::to_string(operands[i].rank));
    return true;
  }
  // The type of the part of operand i that `indices` leading indices select.
  type part(std::size_t i, std::size_t indices) {
    type t = operands[i];
    t.is_accumulator = false;
    t.rank = static_cast<std::uint8_t>(t.rank - indices) & max_rank;
    return t;
  }
  // Checks operands from the first-th on against a callee's `count` parameters: `parameter(i)`.
  template <class Parameter>
  bool arguments(std::size_t first, std::size_t count, Parameter parameter, std::string_view callee) {
    if (operands.size() - first != count)
      return fail(
          std::string(name_of(code)) + ": " + (first == 0 ? "@" : "") + std::string(callee) + " takes " +
          counted(count, "argument") + ", and is given " + std::to_string(operands.size() - first));
    for (std::size_t i = 0; i < count; ++i)
      if (!is(first + i, parameter(i))) return false;
    return true;
  }
};

constexpr bool part_is_number(type t) {
  t.rank = 0;
  return t.is_number();
}

inline bool apply_rule(rule_call& c) {
  auto const& x = c.operands;
  op_row const& row = row_of(c.code);
  if (x.size() < row.least || x.size() > row.most)
    return c.fail(
        std::string(row.name) + ": takes " +
        (row.least == row.most  ? ""
         : x.size() < row.least ? "at least "
                                : "at most ") +
        counted(x.size() < row.least ? row.least : row.most, "operand") + ", and is given " +
        std::to_string(x.size()));
  switch (row.types) {
  case type_rule::numeric:
    return (x[0].is_number() || c.refuse(0, "a number")) && c.alike(0) && c.give(x[0]);
  case type_rule::integer:
    return c.integers_from(0) && c.give(i64);
  case type_rule::floating:
    return (x[0].is_floating() || c.refuse(0, "f32 or f64")) && c.alike(0) && c.give(x[0]);
  case type_rule::comparison:
    return (x[0].is_literal() || c.refuse(0, "a number or bool")) && c.alike(0) && c.give(boolean);
  case type_rule::test:
    return (x[0].is_floating() || c.refuse(0, "f32 or f64")) && c.give(boolean);
  case type_rule::logical:
    return c.is(0, boolean) && c.alike(0) && c.give(boolean);
  case type_rule::select:
    return c.is(0, boolean) && (!x[1].is_accumulator || c.refuse(1, "no accumulator")) && c.alike(1) &&
           c.give(x[1]);
  case type_rule::integer_floating:
    return c.is(0, i64) && (x[1].is_floating() || c.refuse(1, "f32 or f64")) && c.give(x[1]);
  case type_rule::floating_integer:
    return (x[0].is_floating() || c.refuse(0, "f32 or f64")) && c.is(1, i64) && c.give(x[0]);
  case type_rule::convert:
    if (!x[0].is_literal()) return c.refuse(0, "a number or bool");
    if (c.results.size() != 1 || !c.results[0].is_literal())
      return c.fail("convert: returns one number or bool");
    return true;
  case type_rule::array:
    if (x.empty())
      return (c.results.size() == 1 && c.results[0].is_array()) ||
             c.fail("array: without elements, its type must be an array");
    return (!x[0].is_accumulator || c.refuse(0, "no accumulator")) && c.alike(0) && c.give_array_of(x[0]);
  case type_rule::length:
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!c.array(i)) return false;
    return c.give(i64);
  case type_rule::at:
    return c.array(0, static_cast<int>(x.size()) - 1) && c.integers_from(1) &&
           c.give(c.part(0, x.size() - 1));
  case type_rule::slice:
    return c.array(0) && c.integers_from(1) && c.give(x[0]);
  case type_rule::update: {
    std::size_t const indices = x.size() - 2;
    if (!c.array(0, static_cast<int>(indices))) return false;
    for (std::size_t i = 1; i <= indices; ++i)
      if (!c.is(i, i64)) return false;
    return c.is(x.size() - 1, c.part(0, indices)) && c.give(x[0]);
  }
  case type_rule::fill:
    return c.is(0, i64) && (!x[1].is_accumulator || c.refuse(1, "no accumulator")) && c.give_array_of(x[1]);
  case type_rule::iota:
    return c.is(0, i64) && c.give(i64.array_of());
  case type_rule::concat:
    return c.array(0) && c.alike(0) && c.give(x[0]);
  case type_rule::gather:
    return c.array(0) && c.is(1, i64.array_of()) && c.give(x[0]);
  case type_rule::copy:
    return c.array(0) && c.give(x[0]);
  case type_rule::if_:
    return c.is(0, boolean);
  case type_rule::loop:
  case type_rule::map:
    return c.is(0, i64);
  case type_rule::while_:
  case type_rule::protect:
    return true;
  case type_rule::reduce: {
    std::size_t const arrays = c.says.is_started() ? x.size() / 2 : x.size();
    if (c.says.is_started() && x.size() % 2 != 0)
      return c.fail("reduce: as many initial values are needed as arrays");
    c.results.clear();
    for (std::size_t i = 0; i < arrays; ++i) {
      if (!c.array(i)) return false;
      c.results.push_back(c.part(i, 1));
      if (c.says.is_started() && !c.is(arrays + i, c.results.back())) return false;
    }
    if (c.says.operation == op::none) return true;
    if (arrays != 1)
      return c.fail("reduce: an operation combines the elements of one array; several need a region");
    type const pair[] = {c.results[0], c.results[0]};
    attributes const plain;
    std::vector<type> combined;
    rule_call inner{c.owner, c.says.operation, pair, plain, combined, {}};
    if (!is_elementwise(c.says.operation) || !apply_rule(inner) || combined[0] != c.results[0])
      return c.fail(
          "reduce: " + std::string(name_of(c.says.operation)) + " does not combine two " +
          text_of(c.owner, c.results[0]));
    return true;
  }
  case type_rule::accumulate:
    c.results.clear();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!c.array(i)) return false;
      if (!part_is_number(x[i])) return c.refuse(i, "an array of numbers");
      c.results.push_back(x[i]);
    }
    return true;
  case type_rule::add_to: {
    if (!x[0].is_accumulator) return c.refuse(0, "an accumulator");
    std::size_t const indices = x.size() - 2;
    if (indices > x[0].rank) return c.fail("add_to: more indices than the accumulator has axes");
    for (std::size_t i = 1; i <= indices; ++i)
      if (!c.is(i, i64)) return false;
    c.results.clear();
    return c.is(x.size() - 1, c.part(0, indices));
  }
  case type_rule::yield:
    c.results.clear();
    return true;
  case type_rule::call: {
    if (c.says.subject >= c.owner.functions.size() || c.owner.is_erased(c.says.callee()))
      return c.fail("call: there is no such function");
    function const& callee = c.owner[c.says.callee()];
    id_range<value_id> const parameters = callee.parameters();
    c.results = callee.results;
    return c.arguments(
        0, parameters.size(), [&](std::size_t i) { return callee.type_of(parameters[i]); },
        c.owner.text(callee.name));
  }
  case type_rule::closure: {
    if (c.says.subject >= c.owner.functions.size() || c.owner.is_erased(c.says.callee()))
      return c.fail("closure: there is no such function");
    function const& callee = c.owner[c.says.callee()];
    std::string_view const name = c.owner.text(callee.name);
    id_range<value_id> const parameters = callee.parameters();
    if (x.size() > parameters.size())
      return c.fail("closure: captures more than @" + std::string(name) + " has parameters");
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!c.is(i, callee.type_of(parameters[i]))) return false;
    if (c.results.size() != 1 || !c.results[0].is_function())
      return c.fail("closure: returns one function value");
    signature const& s = c.owner.signature_of(c.results[0]);
    bool fits = s.parameters.size() == parameters.size() - x.size() && s.results == callee.results;
    for (std::size_t i = 0; fits && i < s.parameters.size(); ++i)
      fits = s.parameters[i] == callee.type_of(parameters[x.size() + i]);
    return fits || c.fail(
                       "closure: " + text_of(c.owner, c.results[0]) +
                       " is not the type of what is left of @" + std::string(name));
  }
  case type_rule::apply: {
    if (!x[0].is_function()) return c.refuse(0, "a function value");
    signature const& s = c.owner.signature_of(x[0]);
    c.results = s.results;
    return c.arguments(
        1, s.parameters.size(), [&](std::size_t i) { return s.parameters[i]; }, "the function value");
  }
  case type_rule::reabstract:
    if (!x[0].is_function()) return c.refuse(0, "a function value");
    if (c.results.size() != 1 || !c.results[0].is_function())
      return c.fail("reabstract: returns one function value");
    return differ_only_in_conventions(c.owner, x[0], c.results[0]) ||
           c.fail(
               "reabstract: " + text_of(c.owner, x[0]) + " and " + text_of(c.owner, c.results[0]) +
               " differ in more than their conventions");
  case type_rule::host:
  case type_rule::sample: {
    for (std::size_t i = 0; i < c.says.count && c.code == op::sample; ++i)
      if (i >= x.size() || !c.is(i, i64))
        return i < x.size() ? false : c.fail("sample: fewer operands than indices of its address");
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i].is_accumulator) return c.refuse(i, "no accumulator");
    return c.code == op::host || c.results.size() == 1 || c.fail("sample: returns one value");
  }
  case type_rule::assert_:
    c.results.clear();
    return c.is(0, boolean);
  }
  return c.fail("there is no such operation");
}

} // namespace detail

bool infer(
    program const& p, op code, std::span<type const> operands, attributes const& says,
    std::vector<type>& results, std::string& why) {
  detail::rule_call c{p, code, operands, says, results, {}};
  bool const fits = detail::apply_rule(c);
  if (!fits) why = std::move(c.why);
  return fits;
}

std::vector<type> infer(
    program const& p, function const& f, op code, std::span<value_id const> operands,
    attributes const& says) {
  std::vector<type> types;
  for (value_id const v : operands) types.push_back(f.type_of(v));
  std::vector<type> results;
  std::string why;
  if (!infer(p, code, types, says, results, why)) throw verify_error({{.text = why}});
  return results;
}

} // namespace overdub::ir
