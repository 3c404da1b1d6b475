#include <overdub/implementation/incremental/affected_iterations.hpp>
#include <overdub/implementation/incremental/changed_lists.hpp>
#include <overdub/implementation/incremental/emitted_iterations.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace overdub::increments {

/// Emits the indices of affected iterations, in the order of the reads.
std::vector<affected> emit_affected(update_writer& w, node_id n, std::vector<affected_read> const& reads) {
  using finding = affected_read::finding;
  std::vector<affected> all;
  for (affected_read const& read : reads)
    all.push_back(
        read.by == finding::own_index       ? emit_own_index(w, read)
        : read.by == finding::reverse_index ? emit_matching_iterations(w, read)
                                            : emit_gathered_rows(w, n, read));
  for (std::size_t k = 0; k < all.size(); ++k) { // only iterations that exist
    affected& r = all[k];
    if (reads[k].by != finding::own_index || r.from.list == ir::nothing) continue;
    if (reads[k].step == 0 && !r.is_checked()) continue;
    r.from = shifted(w.code, r.from, reads[k].step, w.known.old_value(w.code.flow_of(n).trip_count()));
    r.may_precede = r.may_exceed = false;
  }
  return all;
}

affected emit_own_index(update_writer& w, affected_read const& read) {
  affected r{.from = *read.of, .may_precede = read.may_precede, .may_exceed = read.may_exceed};
  r.from.difference = ir::nothing;
  if (r.from.list == ir::nothing && read.step != 0) {
    r.from.index =
        w.code.add(op::sub, read.of->index, w.code.literal(ir::i64, static_cast<std::uint64_t>(read.step)));
    r.from.shift -= read.step;
    r.known_index = read.index;
    r.known_as = read.of->index;
  }
  r.from.valid = ir::nothing;
  for (value_id const v : read.conditions)
    r.from.valid = r.from.valid == ir::nothing ? v : w.code.add(op::logical_or, r.from.valid, v);
  return r;
}

affected emit_matching_iterations(update_writer& w, affected_read const& read) {
  affected r{.from = *read.of};
  delta& p = r.from;
  p.difference = ir::nothing;
  bool const is_one = p.list == ir::nothing;
  p.found_by.keys = w.code.saved.value(read.keys);
  p.found_by.key = p.index; // nothing for a list
  update_parameter const members{
      .what = update_parameter::kind::matching_iterations,
      .variable = p.found_by.keys,
      .input = p.source,
      .ordinal = p.ordinal,
      .shift = p.shift};
  p.list = w.code.parameter_for(members, ir::i64.array_of());
  p.is_sorted = false;
  p.index = ir::nothing;
  if (is_one) {
    r.known_index = read.index;
    r.known_as = p.found_by.key;
  }
  return r;
}

affected emit_gathered_rows(update_writer& w, node_id n, affected_read const& read) {
  std::vector<gather>& gathers = w.code.made.gathers;
  auto known =
      std::find_if(gathers.begin(), gathers.end(), [&](gather const& g) { return g.index == read.index; });
  if (known == gathers.end()) {
    ir::program without_draft = w.code.made.program;
    without_draft.erase(w.code.draft);
    gathers.push_back(gather_writer::write(
        without_draft, w.code.source, n, read.index, [&](value_id v) { return w.code.saved.value(v); }));
    known = gathers.end() - 1;
  }
  update_parameter const rows{
      .what = update_parameter::kind::gathered_rows,
      .variable = static_cast<std::uint32_t>(known - gathers.begin()),
      .input = read.of->source,
      .shift = read.of->shift};
  affected r;
  r.from.source = read.of->source;
  r.from.list = w.code.parameter_for(rows, ir::i64.array_of());
  return r;
}

/// Guards that elements which all iterations read did not change. Returns why all iterations are recomputed, if a guard cannot be
/// emitted.
std::string_view guard_common_reads(update_writer& w, std::vector<common_read> const& all) {
  static constexpr std::string_view why = "an element that all iterations use may have changed";
  for (common_read const& each : all) // before any guard is emitted
    if (!w.guards.may_speculate_apart(each.at, *each.of)) return why;
  for (common_read const& each : all)
    if (!w.guards.speculates_apart(each.at, *each.of, 2)) return why;
  return {};
}

/// The condition that an affected iteration exists. Nothing, if it always exists.
value_id in_range(update_writer& w, node_id n, affected const& r) {
  value_id const index = r.from.index;
  value_id const begins =
      r.may_precede ? w.code.add(op::ge, index, w.code.literal(ir::i64, 0)) : value_id(ir::nothing);
  value_id const ends = r.may_exceed
                            ? w.code.add(op::lt, index, w.known.old_value(w.code.flow_of(n).trip_count()))
                            : value_id(ir::nothing);
  return w.code.both(begins, ends);
}

/// The condition that an iteration was emitted before. Nothing, if it cannot have been.
value_id is_covered_by(update_writer& w, affected const& earlier, affected const& later, value_id index) {
  delta const &a = earlier.from, &b = later.from;
  if (a.list == ir::nothing) {
    bool const same_source = a.source == b.source && b.list == ir::nothing;
    // Deltas of one source are at different indices.
    if (same_source &&
        ((a.ordinal != b.ordinal && a.shift == b.shift) || (a.ordinal == b.ordinal && a.shift != b.shift)))
      return ir::nothing;
    return w.code.both(w.code.add(op::eq, a.index, index), a.valid);
  }
  if (is_searchable(a)) return find_in(w.code, a, index).is_there;
  // An iteration has one value of an index.
  if (a.found_by.keys == b.found_by.keys && b.list != ir::nothing && a.source == b.source &&
      a.shift == b.shift)
    return ir::nothing;
  value_id const key = w.code.at(w.code.read(a.found_by.keys, {}), index);
  if (a.found_by.key != ir::nothing) return w.code.add(op::eq, key, a.found_by.key);
  return find_in_source(w.code, a.source, a.shift, key).is_there;
}

} // namespace overdub::increments
