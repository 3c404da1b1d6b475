// A program that is run as a whole for each change of its inputs: what incremental programs are compared with.
#pragma once

#include <overdub/compile/tiered_program.hpp>
#include <overdub/contexts/incremental/memory.hpp>
#include <overdub/contexts/incremental/parts.hpp>
#include <overdub/execute/datum.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// A program whose first result is an f64, kept with its inputs. It is used as an incremental_program is, and runs all of it each time.
class reexecuted_program {
public:
  reexecuted_program(std::shared_ptr<tiered_program const> code, std::vector<datum> const& inputs)
      : code_(std::move(code)), call_(code_) {
    for (ir::type const t : call_.code().results) results_.push_back({contexts::increments::cells(t), 0});
    for (datum const& d : inputs) {
      inputs_.push_back({contexts::increments::cells(d.type()), d.bits()});
      if (d.type().rank > 0) inputs_.back().array.assign(d);
    }
    propose();
    keep();
  }
  /// Copies what is committed.
  reexecuted_program(reexecuted_program const& other)
      : code_(other.code_), call_(code_), inputs_(other.inputs_), results_(other.results_),
        changes_(other.changes_), value_(other.value_) {
    rollback();
  }
  reexecuted_program(reexecuted_program&&) = default;
  reexecuted_program& operator=(reexecuted_program const& other) { return *this = reexecuted_program(other); }
  reexecuted_program& operator=(reexecuted_program&&) = default;
  ~reexecuted_program() = default;

  void set(std::uint32_t i, datum const& x) {
    changes_.push_back({.input = i, .bits = inputs_[i].bits});
    if (x.type().rank > 0) {
      changes_.back().whole = inputs_[i].array;
      inputs_[i].array.assign(x);
    }
    inputs_[i].bits = x.bits();
  }
  void set_differing(std::uint32_t i, datum const& now, datum const& x) {
    if (!(now == x)) set(i, x);
  }
  void set_at(std::uint32_t i, std::span<i64 const> path, std::uint64_t bits) {
    auto& array = inputs_[i].array;
    std::size_t const byte = array.at(path);
    changes_.push_back({.input = i, .byte = byte, .bits = array.bits_at(byte)});
    array.set_bits_at(byte, bits);
  }
  void append(std::uint32_t i, datum const& row) {
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
      contexts::increments::put_bits(to, array.size_of_scalar(), row.bits());
    else
      execute::with_type(row.type().element, [&]<class T>(T) {
        if (auto const& from = row.elements<T>(); !from.empty())
          std::memcpy(to, from.data(), array.bytes_of_row());
      });
    changes_.push_back({.input = i, .rows = 1});
    array.extend(1);
  }
  void propose() {
    for (std::uint32_t k = 0; k < inputs_.size(); ++k) pass_input(call_, k, k);
    call_.run();
    proposed_ = call_.word(0);
  }
  void commit() {
    if (changes_.empty()) return;
    propose();
    changes_.clear();
    keep();
  }
  void rollback() {
    for (std::size_t k = changes_.size(); k-- > 0;) exchange(changes_[k]);
    changes_.clear();
    proposed_ = value_;
  }

  std::uint64_t value() const { return value_; }
  std::uint64_t proposed() const { return proposed_; }
  double difference() const { return std::bit_cast<double>(proposed_) - std::bit_cast<double>(value_); }

  /// Of results behind the first: f(path, bits) for all elements that were proposed.
  template <class F>
  void for_each_change(std::size_t result, F const& f) const {
    auto const& of = results_[result].array;
    if (of.type().rank > 0)
      contexts::increments::for_each_scalar(
          call_.elements(result), of.size_of_scalar(), {call_.extents(result), of.type().rank}, {}, f);
    else
      f(std::span<i64 const>(), call_.word(result));
  }
  std::uint64_t result_bits(std::size_t result, std::span<i64 const> path) const {
    return bits_at(results_[result], path);
  }
  datum result(std::size_t k) const { return as_datum(results_[k]); }
  template <class F>
  void as_proposed(F const& f) {
    f();
  }
  template <class F>
  void as_committed(F const& f) {
    struct exchanged {
      reexecuted_program& of;
      explicit exchanged(reexecuted_program& p) : of(p) {
        for (std::size_t k = of.changes_.size(); k-- > 0;) of.exchange(of.changes_[k]);
      }
      exchanged(exchanged const&) = delete;
      ~exchanged() {
        for (change& c : of.changes_) of.exchange(c);
      }
    } const now(*this);
    f();
  }

  datum input(std::uint32_t i) const { return as_datum(inputs_[i]); }
  void pass_input(bound_call& to, std::size_t parameter, std::uint32_t i) const {
    if (inputs_[i].array.type().rank > 0)
      to.lend(parameter, inputs_[i].array.data(), inputs_[i].array.extents());
    else
      to.set(parameter, inputs_[i].bits);
  }
  i64 const* input_extents(std::uint32_t i) const { return inputs_[i].array.extents(); }
  i64 proposed_extent(std::uint32_t i, std::size_t axis) const { return inputs_[i].array.extent(axis); }
  std::uint64_t input_bits(std::uint32_t i, std::span<i64 const> path) const {
    return bits_at(inputs_[i], path);
  }

private:
  static constexpr std::size_t nowhere = ~std::size_t{0};
  struct one_value {
    contexts::increments::cells array;
    std::uint64_t bits;
  };
  static std::uint64_t bits_at(one_value const& x, std::span<i64 const> path) {
    return x.array.type().rank > 0 ? x.array.bits_at(x.array.at(path)) : x.bits;
  }
  static datum as_datum(one_value const& x) {
    return x.array.type().rank > 0 ? x.array.as_datum() : datum::of_bits(x.array.type(), x.bits);
  }
  struct change { // what it was
    std::uint32_t input = 0;
    std::size_t byte = nowhere;
    std::uint64_t bits = 0;
    std::optional<contexts::increments::cells> whole = {};
    i64 rows = 0; // that came, and are still behind the end where they went
  };

  void keep() {
    value_ = proposed_;
    for (std::size_t k = 0; k < results_.size(); ++k)
      if (results_[k].array.type().rank > 0)
        results_[k].array.assign(call_.elements(k), call_.extents(k));
      else
        results_[k].bits = call_.word(k);
  }
  // What an input is, and what it was, change places.
  void exchange(change& c) {
    auto& to = inputs_[c.input];
    if (c.rows != 0) {
      to.array.extend(-c.rows);
      c.rows = -c.rows;
      return;
    }
    std::uint64_t const now = c.byte == nowhere ? to.bits : to.array.bits_at(c.byte);
    if (c.whole)
      std::swap(to.array, *c.whole);
    else if (c.byte != nowhere)
      to.array.set_bits_at(c.byte, c.bits);
    else
      to.bits = c.bits;
    c.bits = now;
  }

  std::shared_ptr<tiered_program const> code_;
  tiered_call call_;
  std::vector<one_value> inputs_, results_;
  std::vector<change> changes_;
  std::uint64_t value_ = 0, proposed_ = 0;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
