#include <overdub/core/error.hpp>
#include <overdub/execute/values.hpp>
#include <overdub/incremental/error.hpp>
#include <overdub/incremental/pending_changes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace overdub::increments {

[[noreturn, gnu::cold]] inline void
throw_indices(std::uint32_t input, ir::type t, std::size_t indices, std::size_t maximum) {
  throw incremental_error(message(
      "overdub: input %u has %d axes, and an element was set by %zu indices; elements of up to %zu axes are "
      "set by as "
      "many",
      input, static_cast<int>(t.rank), indices, maximum));
}
[[noreturn, gnu::cold]] void pending_changes::throw_outside(std::uint32_t input, i64 index, i64 size) {
  throw index_error(message(
      "overdub: input %u has %lld elements along this axis, and none at %lld", input,
      static_cast<long long>(size), static_cast<long long>(index)));
}

change_signature pending_changes::signature() const {
  change_signature all;
  for (pending_change const& c : of_) all.push_back(c.how);
  return all;
}

void pending_changes::set_array(std::uint32_t input, datum const& x) {
  cells whole(x.type());
  whole.assign(x);
  is_proposed_ = false;
  of_[input].whole = std::move(whole);
  change(input, {.whole = true});
}

void pending_changes::set_element(
    saved_values& saved, std::uint32_t input, std::span<i64 const> path, std::uint64_t bits) {
  pending_change& c = of_[input];
  cells& m = saved.arrays[input];
  if (path.empty() || path.size() != m.type().rank || path.size() > pending_change::max_indices)
    throw_indices(input, m.type(), path.size(), pending_change::max_indices);
  if (path[0] >= m.extent(0) && path[0] - m.extent(0) < c.appended()) { // an appended element
    check_indices(input, path, m, 1);
    m.set_bits_at(m.at(path), bits);
    if (!c.how.appends_list()) c.elements[path[0] - m.extent(0)].bits = bits;
    is_proposed_ = false;
    return;
  }
  check_indices(input, path, c.how.whole ? *c.whole : m);
  if (c.how.appended) { // an element that was there before the append
    make_whole(input, saved);
  } else if (c.how.is_listed()) {
    if (!c.list->has(path[0])) {
      if (m.bits_at(m.at(path)) == bits) return; // no change
      if (!may_list(input, saved)) make_whole(input, saved);
    }
  } else if (!c.how.whole) {
    if (set_single_element(input, path, bits, m)) return;
    if (may_list(input, saved))
      make_listed(input, saved);
    else
      make_whole(input, saved);
  }
  if (c.how.whole)
    c.whole->set_bits_at(c.whole->at(path), bits);
  else
    put_bits(
        c.list->at(path[0], m) + (m.at(path) - static_cast<std::size_t>(path[0]) * m.bytes_of_row()),
        m.size_of_scalar(), bits);
  is_proposed_ = false;
}

// Sets one of a few elements, or adds it to them. Returns false if it must be added to a list.
bool pending_changes::set_single_element(
    std::uint32_t input, std::span<i64 const> path, std::uint64_t bits, cells const& m) {
  pending_change& c = of_[input];
  for (std::uint8_t k = 0; k < c.how.elements; ++k)
    if (std::equal(path.begin(), path.end(), c.elements[k].path)) {
      c.elements[k].bits = bits;
      is_proposed_ = false;
      return true;
    }
  if (m.bits_at(m.at(path)) == bits) return true; // no change
  is_proposed_ = false;
  // Update programs require that changed elements differ in their first index.
  bool const meets =
      std::any_of(c.elements, c.elements + c.how.elements, [&](pending_change::element const& p) {
        return p.path[0] == path[0];
      });
  if (meets || c.how.elements == input_change::maximum_elements) return false;
  pending_change::element& p = c.elements[c.how.elements];
  for (std::size_t k = 0; k < path.size(); ++k) p.path[k] = path[k];
  p.bits = bits;
  change(
      input, {.elements = static_cast<std::uint8_t>(c.how.elements + 1),
              .indices = static_cast<std::uint8_t>(path.size())});
  return true;
}

void pending_changes::append(saved_values& saved, std::uint32_t input, datum const& x) {
  pending_change& c = of_[input];
  cells& m = saved.arrays[input];
  ir::type const t = m.type();
  i64 const rows = c.how.whole ? c.whole->extent(0) : m.extent(0) + c.appended();
  if (rows > 0)
    for (std::size_t axis = 1; axis < t.rank; ++axis)
      if (i64 const wanted = (c.how.whole ? *c.whole : m).extent(axis); x.shape()[axis - 1] != wanted)
        throw size_error(message(
            "overdub: input %u has rows of size %lld, and was given one of size %lld more", input,
            static_cast<long long>(wanted), static_cast<long long>(x.shape()[axis - 1])));
  // An append to an empty array, or to one with other changes, is a change as a whole.
  bool const is_first = c.how.is_same();
  if (!c.how.whole && (m.extent(0) == 0 || (!is_first && !c.how.appended))) make_whole(input, saved);
  is_proposed_ = false;
  cells& to = c.how.whole ? *c.whole : m;
  if (rows == 0) to.set_row(x.shape().data());
  if (!to.reserve_rows(rows - to.extent(0) + 1) && !c.how.whole) ++saved.versions.arrays;
  std::byte* const row = to.data() + static_cast<std::size_t>(rows) * to.bytes_of_row();
  if (t.rank == 1)
    put_bits(row, to.size_of_scalar(), x.bits());
  else
    execute::with_type(t.element, [&]<class T>(T) {
      if (auto const& from = x.elements<T>(); !from.empty()) std::memcpy(row, from.data(), to.bytes_of_row());
    });
  if (c.how.whole) return to.extend(1);
  add_appended(input, rows, t.rank == 1 ? x.bits() : 0);
}

// Clears a change of another kind than numbers and single elements.
void pending_changes::clear(pending_change& c) {
  if (c.how.is_listed()) c.list->clear();
  c.whole.reset();
  c.is_exchanged = false;
}

// Whether one more element still makes a list. A larger part of an array is updated faster as a whole.
bool pending_changes::may_list(std::uint32_t input, saved_values const& saved) const {
  pending_change const& c = of_[input];
  std::size_t const listed = c.how.is_listed() ? c.list->size() : c.how.elements;
  return (listed + 1) * listed_fraction <= static_cast<std::size_t>(saved.arrays[input].extent(0));
}
// Makes single elements a list.
void pending_changes::make_listed(std::uint32_t input, saved_values const& saved) {
  pending_change& c = of_[input];
  cells const& m = saved.arrays[input];
  if (!c.list) c.list.emplace(m.type());
  c.list->begin(m);
  for (std::uint8_t k = 0; k < c.how.elements; ++k) {
    pending_change::element const& p = c.elements[k];
    std::size_t const in_row =
        m.at({p.path, c.how.indices}) - static_cast<std::size_t>(p.path[0]) * m.bytes_of_row();
    put_bits(c.list->at(p.path[0], m) + in_row, m.size_of_scalar(), p.bits);
  }
  change(input, {.elements = input_change::listed, .indices = 1});
}
// Makes a change one of the whole input.
void pending_changes::make_whole(std::uint32_t input, saved_values const& saved) {
  pending_change& c = of_[input];
  c.whole = whole(input, saved);
  if (c.how.is_listed()) c.list->clear();
  change(input, {.whole = true});
}

cells pending_changes::whole(std::uint32_t input, saved_values const& saved) const {
  pending_change const& c = of_[input];
  cells all = saved.arrays[input];
  if (c.how.appended) {
    all.extend(c.appended_count);
    return all;
  }
  if (c.how.is_listed()) {
    std::size_t const bytes = all.bytes_of_row();
    auto const indices = c.list->indices();
    for (std::size_t k = 0; bytes > 0 && k < indices.size(); ++k)
      std::memcpy(
          all.data() + static_cast<std::size_t>(indices[k]) * bytes, c.list->elements().data() + k * bytes,
          bytes);
    return all;
  }
  for (std::uint8_t k = 0; k < c.how.elements; ++k)
    all.set_bits_at(all.at({c.elements[k].path, c.how.indices}), c.elements[k].bits);
  return all;
}

void pending_changes::exchange(saved_values& saved) {
  for (std::uint32_t const i : changed()) {
    pending_change& c = of_[i];
    cells& of = saved.arrays[i];
    if (c.how.appended) {
      of.extend(c.is_exchanged ? -c.appended_count : c.appended_count);
      c.is_exchanged = !c.is_exchanged;
    } else if (c.how.is_listed()) {
      std::size_t const bytes = of.bytes_of_row();
      auto const indices = c.list->indices();
      for (std::size_t k = 0; k < indices.size(); ++k) {
        std::byte* const row = c.list->elements().data() + k * bytes;
        std::swap_ranges(row, row + bytes, of.data() + static_cast<std::size_t>(indices[k]) * bytes);
      }
    } else if (!c.how.whole) {
      for (std::uint8_t k = 0; k < c.how.elements; ++k) {
        std::size_t const at = of.at({c.elements[k].path, c.how.indices});
        std::uint64_t const before = of.bits_at(at);
        of.set_bits_at(at, c.elements[k].bits);
        c.elements[k].bits = before;
      }
    } else if (saved.is_number(i)) {
      std::swap(saved.numbers[i], c.bits);
    } else {
      std::swap(of, *c.whole);
    }
  }
}

pending_changes::set_aside pending_changes::put_aside() {
  set_aside all{of_, count_, code_};
  for (pending_change& c : of_) c = {};
  count_ = 0;
  code_ = 0;
  return all;
}
void pending_changes::restore(set_aside& all) noexcept {
  std::move(all.of.begin(), all.of.end(), of_.begin());
  count_ = all.count;
  code_ = all.code;
}

} // namespace overdub::increments
