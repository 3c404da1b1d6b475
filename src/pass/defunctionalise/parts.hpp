// Function values as parts (tag and slots): conversion to a larger set of kinds or to an element of an array, and tests of
// the tag.
#pragma once

#include <overdub/implementation/pass/defunctionalise/representation.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace overdub::pass::detail {

using parts = std::vector<value_id>;

/// Emits parts at a cursor. For function values that are not arrays: the kinds of an array are the same everywhere.
class part_maker {
public:
  part_maker(representations& known, cursor& c) : known_(known), c_(c) {}

  /// 0, false, or an empty array.
  value_id none(type t) {
    if (t.rank == 0) return c_.literal(t, 0);
    return c_->result(c_.insert(op::array, {}, cursor::types(&t, 1)));
  }
  parts none(type t, kind_set const& kinds) {
    parts all;
    for (type const each : known_.types_of(t, kinds)) all.push_back(none(each));
    return all;
  }

  /// Converts from a set of kinds to a larger one. Slots of other kinds are never read: they get the values of `otherwise`,
  /// which has the larger set, or 0, false or an empty array.
  parts as(parts const& given, kind_set const& from, kind_set const& to, parts const* otherwise = nullptr) {
    if (from == to) return given;
    parts all;
    if (representations::has_number(to, 0)) all.push_back(number(given, from, to));
    for (slot const& wanted : known_.of(to)) {
      value_id v = find(given, from, wanted);
      if (v == nothing) v = otherwise != nullptr ? (*otherwise)[all.size()] : none(wanted.of);
      all.push_back(v);
    }
    return all;
  }
  /// Selects one of two values. A slot that only one of them has keeps its value either way, so that loop-carried arrays
  /// keep their shapes.
  parts select(
      value_id condition, parts const& a, kind_set const& of_a, parts const& b, kind_set const& of_b,
      kind_set const& to) {
    parts all;
    auto const choose = [&](value_id x, value_id y) { // at least one of them is present
      if (x == nothing) x = y;
      if (y == nothing) y = x;
      value_id const operands[] = {condition, x, y};
      all.push_back(x == y ? x : c_->result(c_.insert(op::select, operands)));
    };
    if (representations::has_number(to, 0)) choose(number(a, of_a, to), number(b, of_b, to));
    for (slot const& wanted : known_.of(to)) choose(find(a, of_a, wanted), find(b, of_b, wanted));
    return all;
  }
  parts as_element(parts const& given, kind_set const& from, kind_set const& to) {
    parts all = as(given, from, to);
    if (!representations::has_number(to, 0)) all.insert(all.begin(), number({}, to, to));
    return all;
  }
  static parts of_element(parts element, kind_set const& kinds) {
    if (!representations::has_number(kinds, 0)) element.erase(element.begin());
    return element;
  }

  /// The captures of a value that is known to be of this kind.
  parts captured(parts const& given, kind_set const& kinds, std::uint32_t kind) {
    parts all;
    for (slot const& s : known_.of_kind(kind)) all.push_back(find(given, kinds, s));
    return all;
  }

private:
  // The value of a slot, for a value of one of these kinds; nothing, if none of them has the slot.
  value_id find(parts const& given, kind_set const& kinds, slot const& wanted) {
    auto const& has = known_.of(kinds);
    auto const at = std::find(has.begin(), has.end(), wanted);
    if (at == has.end()) return nothing;
    return given
        [(representations::has_number(kinds, 0) ? 1 : 0) +
         static_cast<std::size_t>(std::distance(has.begin(), at))];
  }
  value_id number(parts const& given, kind_set const& from, kind_set const& to) {
    if (representations::has_number(from, 0)) return given[0];
    kind_set const& of = from.empty() ? to : from; // a value without possible kinds never exists at run time
    return c_.literal(of.empty() ? std::int64_t{0} : std::int64_t{of[0]});
  }

  representations& known_;
  cursor& c_;
};

} // namespace overdub::pass::detail
