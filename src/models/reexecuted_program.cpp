#include <overdub/models/reexecuted_program.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

reexecuted_program::reexecuted_program(
    std::shared_ptr<tiered_program const> code, std::vector<datum> const& inputs)
    : code_(std::move(code)), call_(code_) {
  for (ir::type const t : call_.code().results) results_.push_back({increments::cells(t), 0});
  for (datum const& d : inputs) {
    inputs_.push_back({increments::cells(d.type()), d.bits()});
    if (d.type().rank > 0) inputs_.back().array.assign(d);
  }
  propose();
  save();
}

reexecuted_program::reexecuted_program(reexecuted_program const& other)
    : code_(other.code_), call_(code_), inputs_(other.inputs_), results_(other.results_),
      changes_(other.changes_), value_(other.value_) {
  rollback();
}

void reexecuted_program::set(std::uint32_t i, datum const& x) {
  changes_.push_back({.input = i, .bits = inputs_[i].bits});
  if (x.type().rank > 0) {
    changes_.back().whole = inputs_[i].array;
    inputs_[i].array.assign(x);
  }
  inputs_[i].bits = x.bits();
}

void reexecuted_program::set_at(std::uint32_t i, std::span<i64 const> path, std::uint64_t bits) {
  auto& array = inputs_[i].array;
  std::size_t const byte = array.at(path);
  changes_.push_back({.input = i, .byte = byte, .bits = array.bits_at(byte)});
  array.set_bits_at(byte, bits);
}

void reexecuted_program::append(std::uint32_t i, datum const& row) {
  auto& array = inputs_[i].array;
  if (array.extent(0) == 0) array.set_row(row.shape().data());
  for (std::size_t axis = 0; axis < row.type().rank; ++axis)
    if (row.shape()[axis] != array.extent(axis + 1))
      throw size_error(message(
          "overdub: input %u has rows of size %lld, and was given one of size %lld more", i,
          static_cast<long long>(array.extent(axis + 1)), static_cast<long long>(row.shape()[axis])));
  array.reserve_rows(1);
  std::byte* const to = array.data() + array.bytes();
  if (row.type().rank == 0)
    increments::put_bits(to, array.size_of_scalar(), row.bits());
  else
    execute::with_type(row.type().element, [&]<class T>(T) {
      if (auto const& from = row.elements<T>(); !from.empty())
        std::memcpy(to, from.data(), array.bytes_of_row());
    });
  changes_.push_back({.input = i, .rows = 1});
  array.extend(1);
}

void reexecuted_program::propose() {
  for (std::uint32_t k = 0; k < inputs_.size(); ++k) pass_input(call_, k, k);
  call_.run();
  proposed_ = call_.word(0);
}

void reexecuted_program::commit() {
  if (changes_.empty()) return;
  propose();
  changes_.clear();
  save();
}

void reexecuted_program::rollback() {
  for (std::size_t k = changes_.size(); k-- > 0;) swap_value(changes_[k]);
  changes_.clear();
  proposed_ = value_;
}

void reexecuted_program::pass_input(bound_call& to, std::size_t parameter, std::uint32_t i) const {
  if (inputs_[i].array.type().rank > 0)
    to.lend(parameter, inputs_[i].array.data(), inputs_[i].array.extents());
  else
    to.set(parameter, inputs_[i].bits);
}

void reexecuted_program::save() {
  value_ = proposed_;
  for (std::size_t k = 0; k < results_.size(); ++k)
    if (results_[k].array.type().rank > 0)
      results_[k].array.assign(call_.elements(k), call_.extents(k));
    else
      results_[k].bits = call_.word(k);
}

void reexecuted_program::swap_value(change& c) {
  auto& to = inputs_[c.input];
  if (c.rows != 0) {
    to.array.extend(-c.rows);
    c.rows = -c.rows;
    return;
  }
  std::uint64_t const now = c.byte == no_element ? to.bits : to.array.bits_at(c.byte);
  if (c.whole)
    std::swap(to.array, *c.whole);
  else if (c.byte != no_element)
    to.array.set_bits_at(c.byte, c.bits);
  else
    to.bits = c.bits;
  c.bits = now;
}

} // namespace overdub::models
