// Passes the arguments of an update program that are neither saved numbers and arrays nor single changed elements.
#pragma once

#include <overdub/implementation/incremental/gather_index.hpp>
#include <overdub/implementation/incremental/reverse_index.hpp>
#include <overdub/incremental/bound_update.hpp>
#include <overdub/incremental/pending_changes.hpp>
#include <overdub/incremental/saved_values.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::increments {

class argument_passer {
public:
  argument_passer(bound_update& b, saved_values& saved, pending_changes& changes)
      : b_(b), saved_(saved), changes_(changes) {}

  void pass_all() {
    b_.arguments.lent_arrays.clear();
    b_.arguments.lent_arrays.reserve(b_.arguments.others.size());
    for (std::uint32_t const k : b_.arguments.others) pass(k);
  }
  /// The work of building reverse indices, in additions.
  std::uint64_t work() const { return work_; }

private:
  using kind = update_parameter::kind;

  void pass(std::uint32_t k) {
    update_parameter const& p = b_.update->program.parameters[k];
    switch (p.what) {
    case kind::gathered_rows:
      return lend(k, gathered_rows(p, k));
    case kind::matching_iterations:
      return lend(k, matching_iterations(p, k));
    case kind::list:
      return lend(k, sorted_list(p.variable).indices());
    case kind::positions:
      return lend(k, sorted_list(p.variable).positions());
    case kind::elements:
      return lend_elements(k, p.variable);
    default:
      return pass_input(k, p.variable);
    }
  }
  void lend(std::uint32_t k, std::span<i64 const> numbers) {
    i64 const extents[] = {static_cast<i64>(numbers.size())};
    b_.call.lend(k, numbers.data(), extents);
  }
  void lend(std::uint32_t k, cells const& m) { b_.call.lend(k, m.data(), m.extents()); }
  // Lends an array with another number of rows.
  void lend_rows(std::uint32_t k, cells const& m, std::byte const* first, i64 rows) {
    i64 extents[ir::max_rank];
    std::copy_n(m.extents(), m.type().rank, extents);
    extents[0] = rows;
    b_.call.lend(k, first, extents);
  }
  change_list const& sorted_list(std::uint32_t input) {
    changes_[input].list->sort();
    return *changes_[input].list;
  }

  // The new values of a list of elements.
  void lend_elements(std::uint32_t k, std::uint32_t input) {
    pending_change const& c = changes_[input];
    cells const& m = saved_.arrays[input];
    if (c.how.appended) return lend_rows(k, m, m.data() + m.bytes(), c.appended_count);
    lend(k, sorted_list(input).elements());
  }
  // An input with its changes.
  void pass_input(std::uint32_t k, std::uint32_t input) {
    pending_change const& c = changes_[input];
    cells const& m = saved_.arrays[input];
    if (saved_.is_number(input))
      b_.call.set(k, c.how.whole ? c.bits : saved_.numbers[input]);
    else if (c.how.is_same())
      lend(k, m);
    else if (c.how.whole)
      lend(k, *c.whole);
    else if (c.how.appended) // the new elements are after the others in memory
      lend_rows(k, m, m.data(), m.extent(0) + c.appended_count);
    else
      lend(k, b_.arguments.lent_arrays.emplace_back(changes_.whole(input, saved_)));
  }

  // The iterations whose saved index equals the index of a changed element.
  std::span<i64 const> matching_iterations(update_parameter const& p, std::uint32_t k) {
    saved_.track_writes(p.variable);
    reverse_index& reverse = *saved_.indices.of(p.variable);
    cells const& m = saved_.arrays[p.variable];
    auto const* const first = reinterpret_cast<i64 const*>(m.data());
    std::span const all(first, static_cast<std::size_t>(m.extent(0)));
    pending_change const& of = changes_[p.input];
    if (!of.how.is_listed()) return reverse.positions(of.elements[p.ordinal].path[0] + p.shift, all);
    std::vector<i64>& iterations = b_.arguments.iteration_lists[k];
    iterations.clear();
    for (i64 const index : of.list->indices()) {
      auto const some = reverse.positions(index + p.shift, all);
      iterations.insert(iterations.end(), some.begin(), some.end());
    }
    return iterations;
  }
  // The rows that read changed elements in nested maps.
  [[gnu::noinline]] std::span<i64 const> gathered_rows(update_parameter const& p, std::uint32_t k) {
    gather_index const& index = index_of_gather(p.variable);
    pending_change const& of = changes_[p.input];
    if (of.how.elements == 1 && !of.how.is_listed()) return index.rows(of.elements[0].path[0] + p.shift);
    std::vector<i64>& all = b_.arguments.iteration_lists[k];
    all.clear();
    auto const add = [&](i64 key) {
      auto const some = index.rows(key + p.shift);
      all.insert(all.end(), some.begin(), some.end());
    };
    if (of.how.is_listed())
      std::ranges::for_each(of.list->indices(), add);
    else
      for (std::uint8_t e = 0; e < of.how.elements; ++e) add(of.elements[e].path[0]);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  // The reverse index of reads in nested maps, for the committed values.
  gather_index const& index_of_gather(std::size_t number) {
    gather const& g = b_.update->program.gathers[number];
    std::vector<std::uint64_t> state;
    for (std::uint32_t const v : g.variables) {
      if (saved_.is_number(v)) {
        state.push_back(saved_.numbers[v]);
        continue;
      }
      saved_.track_writes(v);
      state.push_back(saved_.indices.of(v)->writes());
      for (std::size_t axis = 0; axis < saved_.variables[v].type.rank; ++axis)
        state.push_back(static_cast<std::uint64_t>(saved_.arrays[v].extent(axis)));
    }
    gather_index& index = saved_.indices.of_gather(g.index);
    if (!index.is_current(state)) build(index, std::move(state), g, b_.update->gathers[number]);
    return index;
  }
  // Lists all pairs of a row and an index that it reads.
  void build(
      gather_index& index, std::vector<std::uint64_t> state, gather const& g,
      runnable_update::gather_code const& code) {
    auto const words = [](bound_call const& ran) {
      auto const* const first = reinterpret_cast<i64 const*>(ran.elements(0));
      return std::span(first, static_cast<std::size_t>(ran.extents(0)[0]));
    };
    bound_call counts(code.counts->code()), keys(code.keys->code());
    for (std::uint32_t k = 0; k < g.variables.size(); ++k) {
      saved_.pass(counts, k, g.variables[k]);
      saved_.pass(keys, k, g.variables[k]);
    }
    counts.run();
    std::vector<i64> rows, inner;
    for (i64 row = 0; i64 const count : words(counts)) {
      for (i64 k = 0; k < count; ++k) {
        rows.push_back(row);
        inner.push_back(k);
      }
      ++row;
    }
    i64 const extents[] = {static_cast<i64>(rows.size())};
    auto const first = static_cast<std::uint32_t>(g.variables.size());
    keys.lend(first, rows.data(), extents);
    keys.lend(first + 1, inner.data(), extents);
    keys.run();
    index.build(std::move(state), rows, words(keys));
    work_ += rows.size() * gather_index::work_of_pair;
  }

  bound_update& b_;
  saved_values& saved_;
  pending_changes& changes_;
  std::uint64_t work_ = 0;
};

} // namespace overdub::increments
