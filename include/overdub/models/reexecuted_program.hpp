// A program that is recomputed in full for each change of its inputs: the baseline of incremental programs.
#pragma once

#include <overdub/compile/tiered_program.hpp>
#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/incremental/update_results.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

/// A program whose first result is an f64, with its inputs. It has the interface of incremental_program, and recomputes each proposal in
/// full.
class reexecuted_program {
public:
  reexecuted_program(std::shared_ptr<tiered_program const> code, std::vector<datum> const& inputs);
  /// Copies the committed state.
  reexecuted_program(reexecuted_program const& other);
  reexecuted_program(reexecuted_program&&) = default;
  reexecuted_program& operator=(reexecuted_program const& other) { return *this = reexecuted_program(other); }
  reexecuted_program& operator=(reexecuted_program&&) = default;
  ~reexecuted_program() = default;

  void set(std::uint32_t i, datum const& x);
  void set_differing(std::uint32_t i, datum const& now, datum const& x) {
    if (!(now == x)) set(i, x);
  }
  void set_at(std::uint32_t i, std::span<i64 const> path, std::uint64_t bits);
  void append(std::uint32_t i, datum const& row);
  void propose();
  void commit();
  void rollback();

  std::uint64_t value() const { return value_; }
  std::uint64_t proposed() const { return proposed_; }
  double difference() const { return std::bit_cast<double>(proposed_) - std::bit_cast<double>(value_); }

  /// Calls f(path, bits) for all elements of a proposed result, one after the first.
  template <class F>
  void for_each_change(std::size_t result, F const& f) const {
    auto const& of = results_[result].array;
    if (of.type().rank > 0)
      increments::for_each_scalar(
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
    struct swapped_inputs {
      reexecuted_program& of;
      explicit swapped_inputs(reexecuted_program& p) : of(p) {
        for (std::size_t k = of.changes_.size(); k-- > 0;) of.swap_value(of.changes_[k]);
      }
      swapped_inputs(swapped_inputs const&) = delete;
      ~swapped_inputs() {
        for (change& c : of.changes_) of.swap_value(c);
      }
    } const now(*this);
    f();
  }

  datum input(std::uint32_t i) const { return as_datum(inputs_[i]); }
  void pass_input(bound_call& to, std::size_t parameter, std::uint32_t i) const;
  i64 proposed_extent(std::uint32_t i, std::size_t axis) const { return inputs_[i].array.extent(axis); }
  std::uint64_t input_bits(std::uint32_t i, std::span<i64 const> path) const {
    return bits_at(inputs_[i], path);
  }

private:
  static constexpr std::size_t no_element = ~std::size_t{0};
  struct stored_value {
    increments::cells array;
    std::uint64_t bits;
  };
  static std::uint64_t bits_at(stored_value const& x, std::span<i64 const> path) {
    return x.array.type().rank > 0 ? x.array.bits_at(x.array.at(path)) : x.bits;
  }
  static datum as_datum(stored_value const& x) {
    return x.array.type().rank > 0 ? x.array.as_datum() : datum::of_bits(x.array.type(), x.bits);
  }
  struct change { // an undo record: the value of an input, or of an element, before the change
    std::uint32_t input = 0;
    std::size_t byte = no_element;
    std::uint64_t bits = 0;
    std::optional<increments::cells> whole = {};
    i64 rows = 0; // appended; negative after an undo, while the rows are still stored after the array's end
  };

  void save();
  // Exchanges an input's present value and the one of the record.
  void swap_value(change& c);

  std::shared_ptr<tiered_program const> code_;
  tiered_call call_;
  std::vector<stored_value> inputs_, results_;
  std::vector<change> changes_;
  std::uint64_t value_ = 0, proposed_ = 0;
};

} // namespace overdub::models
