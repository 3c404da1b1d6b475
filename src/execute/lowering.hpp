// The lowering of a function of a program to instructions. Analyses of the function yield data; functions that share a function_lowering
// emit the instructions of its operations, by group.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/execute/options.hpp>
#include <overdub/implementation/execute/array_words.hpp>
#include <overdub/implementation/execute/emitter.hpp>
#include <overdub/implementation/execute/frame_slots.hpp>
#include <overdub/implementation/execute/lane_state.hpp>
#include <overdub/implementation/ir/reference_counts.hpp>
#include <overdub/implementation/ir/use_order.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace overdub::execute {
using ir::node_id;
using ir::region_id;
using ir::value_id;
using value_list = std::vector<value_id>;

/// Lowering state that the functions of a program share.
struct lowering_of_program {
  ir::program const& owner;
  execution_options options;
  code& to;
  emitter out;
  std::vector<std::uint32_t> number_of; // of a function of the program; ~0: not called yet
  std::vector<ir::function_id> order;   // of called functions
  ir::parameter_ownership owners{};     // frames own all parameters

  std::uint32_t number(ir::function_id f);
};

/// A result of a map that is reduced while it is computed, and not stored.
struct fused_map {
  node_id reduce;
  offset state;           // of a nested map: the word that points to eight rows of sums
  offset row = no_word;   // these rows
  offset count = no_word; // the word of the number of elements
};

/// What the lowering of a function's operations shares.
struct function_lowering {
  function_lowering(lowering_of_program& shared, ir::function_id id);

  ir::type type_of(value_id v) const { return f.type_of(v); }
  offset at(value_id v) const { return slots.at(v); }
  /// The index of a function of floating-point numbers, or of the operation of a reduction.
  offset number(ir::op code) const { return ir::number_in(p.math, code); }
  bool is_lanes(value_id v) const { return lanes != nullptr && lanes->plan.varies(v); }
  ir::reference_counts const& counts() const { return lanes != nullptr ? lanes->counts : counts_of_function; }
  [[noreturn]] void refuse(std::string const& what) const;

  lowering_of_program& shared;
  ir::program const& p;
  ir::function const& f;

  // Analyses of the function.
  ir::use_order const order;
  ir::reference_counts const counts_of_function;

  // The state of its lowering.
  emitter& out;
  frame_slots slots;
  lane_state* lanes = nullptr; // while the body of a map is vectorised
  std::vector<fused_map> fused_maps;
  std::vector<std::uint32_t> calls; // instructions whose operand c is the size of the frame
};

/// Lowers the operations of a region but its yield, and but one: those in lanes for all lanes of a block, others as usual.
void lower_region(function_lowering&, region_id, node_id left_out = ir::nothing);

// ---- the end of values

/// Emits the releases after an operation, which is emitted, and ends the values that it uses last. Those in `overwritten` are released
/// already.
void finish(function_lowering&, node_id, std::span<offset const> overwritten = {});
/// Ends the scalars that an operation uses last, so that its results may have their words.
void end_scalars(function_lowering&, node_id);
/// Emits the release of a counted value, if it has words.
void release(function_lowering&, value_id);
/// Emits a new reference to an operand that an operation consumes, if it does not consume the operand's own.
void retain_consumed(function_lowering&, node_id, std::uint32_t operand);

/// The sums of the map whose result a reduction reduces, if they were computed with the map. The caller ends them.
std::optional<fused_map> take_fused_map(function_lowering&, node_id reduce);

// ---- what is not supported (supported_types.hpp has the types): throws not_executable

void refuse_unless_elementwise(function_lowering const&, node_id);

// ---- operands

/// Whether an operation is the only user of a value.
bool is_only_use(ir::function const&, value_id, node_id);
/// New words for values.
std::vector<offset> new_slots(function_lowering&, ir::id_range<value_id> all);
/// Appends the words of a value to a list of operands.
void append_words(function_lowering const&, std::vector<offset>& list, value_id);
/// The words of the operands of an operation, the first word of each.
std::vector<offset> operand_words(function_lowering const&, node_id);

constexpr offset scalar_bytes(ir::type t) { return size_of(t.element); }
constexpr offset shape_code(ir::type t) { return rank_and_size(t.rank, size_of(t.element)); }

} // namespace overdub::execute
