// A program that is run as a whole for each change of its inputs: what incremental programs are compared with.
#pragma once

#include <overdub/contexts/incremental/memory.hpp>
#include <overdub/execute/bound_call.hpp>
#include <overdub/execute/datum.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// A program of one f64, kept with its inputs. It is used as an incremental_program is, and runs all of it each time.
class reexecuted_program {
public:
  reexecuted_program(std::shared_ptr<execute::code const> code, std::vector<datum> const& inputs)
      : call_(std::move(code)) {
    for (datum const& d : inputs) {
      inputs_.push_back({contexts::increments::cells(d.type()), d.bits()});
      if (d.type().rank > 0) inputs_.back().array.assign(d);
    }
    propose();
    commit();
  }

  void set(std::uint32_t i, datum const& x) {
    changes_.push_back({.input = i, .bits = inputs_[i].bits});
    if (x.type().rank > 0) {
      changes_.back().whole = inputs_[i].array;
      inputs_[i].array.assign(x);
    }
    inputs_[i].bits = x.bits();
  }
  void set_at(std::uint32_t i, std::span<i64 const> path, std::uint64_t bits) {
    auto& array = inputs_[i].array;
    std::size_t const byte = array.at(path);
    changes_.push_back({.input = i, .byte = byte, .bits = array.bits_at(byte)});
    array.set_bits_at(byte, bits);
  }
  void propose() {
    for (std::uint32_t k = 0; k < inputs_.size(); ++k) pass_input(call_, k, k);
    call_.run();
    proposed_ = call_.word(0);
  }
  void commit() {
    if (!changes_.empty()) propose();
    changes_.clear();
    value_ = proposed_;
  }
  void rollback() {
    for (std::size_t k = changes_.size(); k-- > 0;) {
      change& c = changes_[k];
      auto& to = inputs_[c.input];
      if (c.whole)
        to.array = std::move(*c.whole);
      else if (c.byte != nowhere)
        to.array.set_bits_at(c.byte, c.bits);
      else
        to.bits = c.bits;
    }
    changes_.clear();
    proposed_ = value_;
  }

  std::uint64_t value() const { return value_; }
  std::uint64_t proposed() const { return proposed_; }
  double difference() const { return std::bit_cast<double>(proposed_) - std::bit_cast<double>(value_); }

  datum input(std::uint32_t i) const {
    auto const& x = inputs_[i];
    return x.array.type().rank > 0 ? x.array.as_datum() : datum::of_bits(x.array.type(), x.bits);
  }
  void pass_input(bound_call& to, std::size_t parameter, std::uint32_t i) const {
    if (inputs_[i].array.type().rank > 0)
      to.lend(parameter, inputs_[i].array.data(), inputs_[i].array.extents());
    else
      to.set(parameter, inputs_[i].bits);
  }
  i64 const* input_extents(std::uint32_t i) const { return inputs_[i].array.extents(); }
  std::uint64_t input_bits(std::uint32_t i, std::span<i64 const> path) const {
    auto const& x = inputs_[i];
    return x.array.type().rank > 0 ? x.array.bits_at(x.array.at(path)) : x.bits;
  }

private:
  static constexpr std::size_t nowhere = ~std::size_t{0};
  struct one_input {
    contexts::increments::cells array;
    std::uint64_t bits;
  };
  struct change { // what it was
    std::uint32_t input = 0;
    std::size_t byte = nowhere;
    std::uint64_t bits = 0;
    std::optional<contexts::increments::cells> whole = {};
  };

  bound_call call_;
  std::vector<one_input> inputs_;
  std::vector<change> changes_;
  std::uint64_t value_ = 0, proposed_ = 0;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
