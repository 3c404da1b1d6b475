// Dispatch functions: an application of a function value becomes a call of a dispatch function, which branches on the tag.
#pragma once

#include <overdub/implementation/pass/defunctionalise/parts.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::pass::detail {

/// The signature of a dispatch function: the possible kinds of the function value, and the types and kinds of arguments and
/// results.
struct applied {
  kind_set kinds;
  std::vector<std::pair<type, kind_set>> arguments, results;

  auto key() const {
    auto const numbers = [](auto const& all) {
      std::vector<std::tuple<int, int, int, kind_set>> made;
      for (auto const& [t, of] : all)
        made.emplace_back(static_cast<int>(t.element), t.rank, holds_functions(t) ? 0 : t.index, of);
      return made;
    };
    return std::tuple(kinds, numbers(arguments), numbers(results));
  }
  bool operator<(applied const& other) const { return key() < other.key(); }
};

/// The dispatch functions, each created on first use.
class applications {
public:
  applications(program& p, representations& known) : p_(p), known_(known) {}

  function_id of(applied const& what) {
    auto const [at, added] = made_.try_emplace(what, nothing);
    if (added) at->second = declared(what);
    return at->second;
  }
  /// Writes the bodies. The callees must have their new parameters.
  void write() {
    for (auto const& [what, f] : made_) write(what, f);
  }

  /// Emits a call of the function of a closure kind, and returns the parts of its results. `what` has the types and kinds.
  parts call(
      cursor& c, std::uint32_t kind, parts const& captured, std::vector<parts> const& arguments,
      applied const& what) {
    closure_kind const& k = known_.flow().kinds()[kind];
    part_maker make(known_, c);
    parts operands = captured;
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      auto const& [t, kinds] = what.arguments[i];
      append_as(operands, make, arguments[i], t, kinds, known_.flow().of_parameter(k.callee, k.captured + i));
    }
    std::vector<type> types;
    for (std::uint32_t i = 0; i < what.results.size(); ++i)
      append(types, known_.types_of(what.results[i].first, known_.flow().of_result(k.callee, i)));
    node_id const n = c.insert(op::call, operands, types, attributes::of(k.callee));
    parts all;
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < what.results.size(); ++i) {
      auto const& [t, kinds] = what.results[i];
      kind_set const& given = known_.flow().of_result(k.callee, i);
      parts result;
      for (std::size_t count = known_.types_of(t, given).size(); count > 0; --count)
        result.push_back(c->result(n, next++));
      append_as(all, make, result, t, given, kinds);
    }
    return all;
  }

  template <class T>
  static void append(std::vector<T>& all, std::vector<T> const& more) {
    all.insert(all.end(), more.begin(), more.end());
  }
  // Appends the parts of a function value, converted to a larger set of kinds.
  static void append_as(
      parts& all, part_maker& make, parts const& given, type t, kind_set const& from, kind_set const& to) {
    if (t.is_function())
      append(all, make.as(given, from, to));
    else
      append(all, given);
  }

private:
  function_id declared(applied const& what) {
    std::vector<type> parameters = known_.types_of(function_value, what.kinds);
    for (auto const& [t, kinds] : what.arguments) append(parameters, known_.types_of(t, kinds));
    std::string name = "apply";
    for (int k = 1; p_.find(name); ++k) name = "apply." + std::to_string(k);
    function_id const f = p_.add(name, parameters);
    for (auto const& [t, kinds] : what.results) append(p_[f].results, known_.types_of(t, kinds));
    return f;
  }
  void write(applied const& what, function_id f) {
    cursor c(p_, f, function::body);
    std::uint32_t next = 0;
    auto const take = [&](type t, kind_set const& kinds) {
      parts all;
      for (std::size_t n = known_.types_of(t, kinds).size(); n > 0; --n)
        all.push_back(c->argument(function::body, next++));
      return all;
    };
    parts const given = take(function_value, what.kinds);
    std::vector<parts> arguments;
    for (auto const& [t, kinds] : what.arguments) arguments.push_back(take(t, kinds));
    parts const results = choose(c, what, given, arguments, what.kinds);
    c.to_end(function::body);
    c.yield(results);
  }
  // Emits a binary search for the tag among the remaining kinds. Returns the results.
  parts choose(
      cursor& c, applied const& what, parts const& given, std::vector<parts> const& arguments,
      std::span<std::uint32_t const> left) {
    if (left.size() == 1) {
      parts const captured = part_maker(known_, c).captured(given, what.kinds, left[0]);
      return call(c, left[0], captured, arguments, what);
    }
    std::size_t const half = left.size() / 2;
    value_id const condition[] = {c.add(op::lt, given[0], c.literal(std::int64_t{left[half]}))};
    std::vector<std::vector<type>> const regions(2);
    node_id const n = c.insert(op::if_, condition, p_[c.id()].results, {}, regions);
    region_id const outside = c.region();
    for (std::uint32_t i = 0; i < 2; ++i) {
      c.to_end(c->region_at(n, i));
      parts const results = choose(c, what, given, arguments, i == 0 ? left.first(half) : left.subspan(half));
      c.to_end(c->region_at(n, i));
      c.yield(results);
    }
    c.to_end(outside);
    parts all;
    for (value_id const v : c->results_of(n)) all.push_back(v);
    return all;
  }

  static constexpr type function_value{ir::scalar::function};

  program& p_;
  representations& known_;
  std::map<applied, function_id> made_;
};

} // namespace overdub::pass::detail
