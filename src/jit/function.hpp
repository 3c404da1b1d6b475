// Compiles a function of a program to an LLVM function: scalars are in registers, arrays are {elements, owner, extents}.
//
// Reference counting as in the interpreter (execute/lowering.hpp): the creator of an array value owns one reference, and
// transfers it at the last use. References are elided where another owner keeps the buffer alive: for parameters that are
// only read, and for parts whose array has a later last use (`borrowed`). Buffers known to have one reference (`unique`)
// are written without a test of the count.
#pragma once

#include "program.hpp"

#include <overdub/implementation/ir/use_order.hpp>
#include <overdub/ir/regions.hpp>

#include <optional>
#include <span>
#include <vector>

namespace overdub::jit {

using parts = llvm::SmallVector<llvm::Value*, 3>;

/// A value in registers.
struct value {
  parts all{};
  bool unique = false;   // its buffer has one reference, which this value owns
  bool borrowed = false; // it owns no reference

  llvm::Value* elements() const { return all[0]; }
  llvm::Value* owner() const { return all[1]; }
  llvm::Value* extent(std::uint32_t axis) const { return all[2 + axis]; }
};

class function_compiler {
public:
  function_compiler(program_compiler& shared, function_id id, llvm::Function* made);
  void compile();

private:
  using values = std::vector<value_id>;
  using block = llvm::BasicBlock*;

  // ---- values (values.cpp)

  ir::type type_of(value_id v) const { return f_.type_of(v); }
  value get(value_id v) const;
  llvm::Value* scalar(value_id v) const { return get(v).all[0]; }
  void set(value_id v, value x) { values_[index_of(v)] = std::move(x); }
  void set(value_id v, llvm::Value* x) { values_[index_of(v)] = value{{x}}; }
  llvm::Value* literal(value_id v) const;
  llvm::Value* owner_of(value_id v) const;

  llvm::ConstantInt* integer(std::int64_t x) const { return b_.getInt64(static_cast<std::uint64_t>(x)); }
  llvm::ConstantInt* number(ir::op code) const { return b_.getInt32(static_cast<std::uint32_t>(code)); }
  llvm::Type* type(ir::scalar s) const { return scalar_type(context_, s); }
  llvm::Type* type_in_memory(ir::scalar s) const;
  llvm::Type* pointer() const { return pointer_type(context_); }

  llvm::Value* load_scalar(ir::scalar s, llvm::Value* from, value_id accumulator = ir::nothing);
  void store_scalar(ir::scalar s, llvm::Value* x, llvm::Value* to, value_id accumulator = ir::nothing);
  // Attaches alias metadata of an accumulator to a load or store; nothing: of none.
  void set_alias_scope(llvm::Instruction* access, value_id accumulator);
  llvm::Value* element_address(ir::scalar s, llvm::Value* elements, llvm::Value* index);
  llvm::Value* byte_offset(llvm::Value* p, std::int64_t bytes);
  // Stack memory for C++ values, aligned for vectors.
  llvm::Value* new_words(std::uint32_t words);
  // The alignment of a vector in new_words, at a multiple of its size.
  llvm::Align vector_alignment(llvm::Type* vector) const;
  void store_words(ir::type t, value const& x, llvm::Value* to);
  value load_words(ir::type t, llvm::Value* from);
  static std::uint32_t words_of(ir::type t) { return execute::words_of(t); }
  llvm::ConstantInt* shape_code(ir::type t) const {
    return b_.getInt32(std::uint32_t{t.rank} << 16 | execute::size_of(t.element));
  }

  // ---- control flow

  block new_block(char const* name) { return llvm::BasicBlock::Create(context_, name, made_); }
  void go(block to) { b_.CreateBr(to); }
  void at(block b) { b_.SetInsertPoint(b); }
  void branch_rarely(llvm::Value* rare, block then, block otherwise);
  llvm::CallBase* call(llvm::FunctionCallee f, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::CallBase* call(runtime_function f, llvm::ArrayRef<llvm::Value*> arguments) {
    return call(declare(*shared_.module, f), arguments);
  }
  // Continues if the condition holds; else calls a function that throws.
  void require(llvm::Value* condition, runtime_function fail, llvm::ArrayRef<llvm::Value*> arguments);
  void require_index(ir::op code, llvm::Value* i, llvm::Value* size);
  void require_not_negative(ir::op code, llvm::Value* n);
  llvm::Value* machine() {
    shared_.uses_machine = true;
    return machine_;
  }
  void prologue();

  // An exception handler: calls unwind to one block; exceptions rethrown by nested handlers join after it.
  struct handler {
    block landing;
    llvm::PHINode* exception;
    bool catches; // or rethrows to the caller
  };

  // A loop with trip count `count` and loop-carried parts: for (i = 0; i < count; ++i).
  struct counted_loop {
    block header, body, latch, exit;
    llvm::PHINode* index;
    std::vector<llvm::PHINode*> carried;
  };
  counted_loop begin_loop(llvm::Value* count, llvm::ArrayRef<llvm::Value*> carried);
  void end_loop(counted_loop const& l, llvm::ArrayRef<llvm::Value*> next, bool unrolled = false);
  bool is_short_with_calls(region_id body) const;

  // ---- live ranges and reference counts (lifetimes.cpp)

  struct last_use {
    value_id value;
    bool releases;
  };
  bool contains(node_id outer, node_id inner) const;
  void live_in(value_id v, region_id r);
  void live_in(ir::id_range<value_id> all, region_id r) {
    for (value_id const v : all) live_in(v, r);
  }
  void finish(node_id n);
  bool transfer_reference(value_id v, node_id n);
  bool has_last_use(value_id v, node_id n) const;
  value transferred(value_id v, node_id n);
  std::vector<value> transferred_yields(region_id r, std::uint32_t first, std::uint32_t count);
  void mark_shared(value_id v);
  void retain(value_id v);
  void retain_owner(llvm::Value* owner);
  void release(ir::type t, llvm::Value* owner);
  values pass_into_regions(node_id n);
  void begin_region(region_id r, values const& given);
  bool can_borrow(value_id array, value_id part, node_id n) const;
  void make_part(value_id array, value_id part, parts all, node_id n);
  void make_unique(ir::type t, value& x);

  // ---- operations

  void compile_region(region_id r);
  void compile_node(node_id n);
  void compile_operation(node_id n);

  // scalars.cpp
  void compile_elementwise(node_id n);
  node_id other_of_sine_and_cosine(node_id n) const;
  void compile_sine_and_cosine(node_id n, node_id other);
  llvm::Value* elementwise(ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* floating(ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* integral(ir::op code, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* divided(ir::op code, llvm::Value* x, llvm::Value* y);
  llvm::Value* elementary(ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* intrinsic_call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* converted(ir::scalar from, ir::scalar to, llvm::Value* x);

  // arrays.cpp
  value new_array(ir::type t, llvm::Value* count, ir::op code);
  llvm::Value* byte_count(ir::type t, value const& x, std::uint32_t first_axis);
  llvm::Value* part_index(node_id n, value const& array, std::uint32_t indices);
  bool is_checked(node_id n, std::uint32_t index) const;
  void compile_array(node_id n);
  void compile_length(node_id n);
  llvm::Value* common_length(std::span<value_id const> arrays, ir::op code);
  void compile_at(node_id n);
  void compile_slice(node_id n);
  value reuse_array(value_id array, node_id n, bool writes);
  void require_shape(ir::op code, ir::type t, value const& array, std::uint32_t first, value const& part);
  void compile_update(node_id n);
  void compile_add_to(node_id n);
  void compile_fill(node_id n);
  void compile_iota(node_id n);
  void compile_concat(node_id n);
  void compile_gather(node_id n);

  // in_place.cpp
  bool is_updated_in_place(value_id v, region_id r, std::uint32_t position) const;
  bool is_only_read_by(value_id v, node_id n) const;
  bool is_once_in(value_id v, node_id n) const;
  value_id before_updates(value_id array) const;
  std::vector<bool> find_in_place(region_id body, std::uint32_t first_argument, std::vector<value>& start);

  // control.cpp
  std::vector<value> initial_values(node_id n, std::uint32_t first_operand, std::uint32_t count);
  void compile_if(node_id n);
  void compile_loop(node_id n);
  void compile_while(node_id n);
  // The trip count of a loop in the previous run, in a word of the module.
  static constexpr std::int64_t maximum_remembered = 1 << 16; // maximum capacity to reserve
  llvm::Value* new_trip_count_memory();
  llvm::Value* remembered(llvm::Value* memory);
  void remember(llvm::Value* memory, llvm::Value* trip_count);
  void compile_accumulate(node_id n);
  void compile_protect(node_id n);

  // An array that a loop creates, element by element.
  struct output {
    value_id result, yielded;
    value made{};                 // of scalars
    llvm::Value* words = nullptr; // of rows: the memory of the array, and of a row after it
    bool is_filled = false;       // by the map that creates each row, in place
    bool is_row = false;          // a row of such an array
  };
  // The destination of a nested map's elements: the row at the enclosing map's index.
  struct row_place {
    llvm::Value *elements, *extent;
    value_id index;
  };
  bool can_fill_row(value_id yielded, region_id body) const;
  void fill_rows(output& o, region_id body, llvm::Value* count);
  output new_output(value_id result, value_id yielded, llvm::Value* count, ir::op code);
  void store_output(output const& o, llvm::Value* index);
  void finish_output(output const& o);

  // look_ahead.cpp: bounds checks for all iterations of a loop and of nested loops, hoisted before the loop
  class ranges_ahead;
  void look_ahead(region_id body, llvm::Value* count);

  // ranges.cpp: hoisted bounds checks of one loop, if a failing run cannot be repeated, or if the loop may not run
  struct affine { // base + coefficient * index, with a coefficient of -1, 0 or 1
    llvm::Value* base;
    int coefficient;
  };
  struct hoisted_checks {
    std::vector<node_id> accesses; // the accesses whose checks it replaces
    llvm::Value* holds = nullptr;  // the combined check; null: none is needed
    bool complete = true;          // all accesses are covered
  };
  std::optional<int> coefficient_in(value_id v, region_id body, int depth = 0) const;
  llvm::Value* base_in(value_id v, region_id body);
  std::optional<affine> affine_in(value_id v, region_id body);
  bool is_simple(region_id body, std::uint32_t& size) const;
  std::optional<hoisted_checks> hoist_checks(region_id body, llvm::Value* count);
  void set_unchecked(hoisted_checks const& c, bool is);
  // A loop that `emit` compiles; twice, if there is a version without checks. `emit` returns the loop's results.
  template <class Emit>
  parts compile_versions(region_id body, llvm::Value* count, Emit const& emit) {
    auto const checks = hoist_checks(body, count);
    if (!checks || checks->accesses.empty()) return emit();
    if (checks->holds == nullptr) {
      set_unchecked(*checks, true);
      return emit();
    }
    block const fast = new_block("in_range"), slow = new_block("checked"), next = new_block("behind");
    b_.CreateCondBr(checks->holds, fast, slow);
    at(fast);
    set_unchecked(*checks, true);
    parts const a = emit();
    block const end = b_.GetInsertBlock();
    go(next);
    at(slow);
    set_unchecked(*checks, false);
    parts const b = emit();
    block const other_end = b_.GetInsertBlock();
    go(next);
    at(next);
    return joined(a, end, b, other_end);
  }
  parts joined(parts const& a, block from_a, parts const& b, block from_b);

  // bulk.cpp
  struct summed { // a map whose only use is a sum
    value_id result, yielded;
    node_id reduction;
  };
  void compile_map(node_id n);
  void compile_map_by_element(node_id n, std::vector<output> const& outputs, std::vector<summed> const& sums);
  node_id reduced_alone(value_id v) const;

  // sums.cpp: maps that are only summed
  bool is_light(ir::op code, ir::type t) const;
  bool is_read_in_line(node_id n, region_id body) const;
  bool is_vectorisable(region_id body, hoisted_checks const& checks);
  bool compile_vector_sums(node_id n, std::vector<summed> const& sums, std::vector<output> const& outputs);
  void compile_in_vectors(region_id body, llvm::Value* index, llvm::Value* mask);
  void compile_in_vector(node_id n, region_id body);
  llvm::Value* in_vector(value_id v, region_id body) const;
  llvm::Value* load_vector(node_id n, region_id body, llvm::Value* index, llvm::Value* mask);
  llvm::Value* splat(llvm::Value* x) const { return b_.CreateVectorSplat(8, x); }
  llvm::Constant* first_integers() const; // 0, 1, ..., 7

  // points.cpp: maps whose bodies have loops with a uniform trip count
  struct nested_loops;
  struct points { // of all elements, if that is faster
    block end, next;
    parts sums;
  };
  node_id reduction_of(value_id v) const;
  bool fits_points(region_id r, region_id body, nested_loops& found) const;
  void compile_in_points(region_id r, region_id body, llvm::Value* index, llvm::Value* mask);
  void compile_by_element(node_id n, region_id body);
  void compile_loop_in_points(node_id n, region_id body, llvm::Value* index, llvm::Value* mask);
  void compile_map_in_points(node_id n, region_id body, llvm::Value* index, llvm::Value* mask);
  void compile_reduce_in_points(node_id n);
  parts compile_eight_points(
      region_id body, llvm::Value* index, llvm::Value* mask, llvm::ArrayRef<llvm::Value*> lanes,
      std::vector<output> const& outputs, std::vector<summed> const& sums);
  std::optional<points>
  begin_points(node_id n, std::vector<output> const& outputs, std::vector<summed> const& sums);
  void end_points(points const& p, std::vector<summed> const& sums);

  // blocks.cpp: maps whose elements end in functions with vector versions
  std::vector<bool> vector_ends(region_id body) const;
  values
  crossing_values(region_id body, std::vector<bool> const& ends, std::vector<summed> const& sums) const;
  llvm::Value* load_lanes(ir::scalar s, llvm::Value* from);
  parts compile_blocks(
      node_id n, std::vector<bool> const& ends, values const& crosses, std::vector<output> const& outputs,
      std::vector<summed> const& sums);
  bool compile_map_in_blocks(node_id n, std::vector<output> const& outputs, std::vector<summed> const& sums);

  // reduce.cpp
  void compile_reduce(node_id n);
  void compile_reduce_by_region(node_id n);
  llvm::Value* sum_of_array(ir::scalar s, llvm::Value* elements, llvm::Value* n);
  llvm::Value* fold_lanes(ir::scalar s, llvm::Value* lanes);
  llvm::Value* fold_stored_lanes(ir::scalar s, llvm::Value* lanes);
  llvm::Value* no_lanes(ir::scalar s);

  // calls.cpp
  void compile_call(node_id n);
  void compile_apply(node_id n);
  void set_results(node_id n, llvm::Value* returned);
  void compile_closure(node_id n);
  void compile_host(node_id n);
  void compile_assert(node_id n);
  void compile_return();

  void check_type(ir::type t) const;
  [[noreturn]] void refuse(std::string const& why) const { refuser{p_, id_}(why); }

  program_compiler& shared_;
  ir::program const& p_;
  ir::function const& f_;
  function_id const id_;
  llvm::Function* const made_;
  llvm::LLVMContext& context_;
  mutable llvm::IRBuilder<> b_;
  llvm::Value* machine_;
  std::vector<value> values_;           // for each value
  std::vector<value_id> borrowed_from_; // for each borrowed value; nothing: an owner that is never released
  std::vector<node_id> last_use_of_;    // for each owned value: its last use
  std::vector<std::vector<last_use>> last_uses_; // for each operation: values with their last use there
  ir::use_order order_;
  std::vector<std::optional<row_place>> rows_; // for each value: the destination of the map that creates it
  std::vector<llvm::Value*> reduced_;  // for each operation: a reduction that was computed with its map
  std::vector<std::uint8_t> in_place_; // for each value: a loop-carried array that is updated in place
  // The accumulators of enclosing regions: only add_to accesses them there.
  std::vector<std::pair<value_id, llvm::MDNode*>> accumulators_;
  std::vector<std::uint8_t> unchecked_; // for each operation: its indices are known to be in range
  std::optional<handler> handler_;      // the current exception handler; nothing: the caller's
};

} // namespace overdub::jit
