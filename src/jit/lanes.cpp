#include "lanes.hpp"

#include "counted_loop.hpp"
#include "memory_access.hpp"

namespace overdub::jit {

llvm::Value* splat(emitter& e, llvm::Value* x) { return e.b.CreateVectorSplat(8, x); }

llvm::Constant* first_integers(emitter& e) {
  llvm::SmallVector<llvm::Constant*, 8> all;
  for (std::int64_t k = 0; k < 8; ++k) all.push_back(e.integer(k));
  return llvm::ConstantVector::get(all);
}

llvm::Value* no_lanes(emitter& e, ir::scalar s) {
  return llvm::ConstantVector::getSplat(
      llvm::ElementCount::getFixed(8), llvm::ConstantFP::getNegativeZero(e.type(s)));
}

llvm::Value* fold_lanes(emitter& e, llvm::Value* lanes) {
  // (0 + 4), (1 + 5), (2 + 6), (3 + 7); then (0 + 2), (1 + 3); then the two.
  auto const half = [&](llvm::Value* x, int n) {
    llvm::SmallVector<int, 4> low, high;
    for (int k = 0; k < n; ++k) {
      low.push_back(k);
      high.push_back(n + k);
    }
    return e.b.CreateFAdd(e.b.CreateShuffleVector(x, low), e.b.CreateShuffleVector(x, high));
  };
  llvm::Value* const two = half(half(lanes, 4), 2);
  return e.b.CreateFAdd(e.b.CreateExtractElement(two, std::uint64_t{0}), e.b.CreateExtractElement(two, 1));
}

// They are folded by scalar loads, since a vector load after scalar stores stalls.
llvm::Value* fold_stored_lanes(emitter& e, ir::scalar s, llvm::Value* lanes) {
  llvm::Value* x[8];
  for (std::int64_t k = 0; k < 8; ++k) x[k] = load_scalar(e, s, element_address(e, s, lanes, e.integer(k)));
  for (std::size_t n = 4; n > 0; n /= 2)
    for (std::size_t k = 0; k < n; ++k) x[k] = e.b.CreateFAdd(x[k], x[k + n]);
  return x[0];
}

llvm::Value* sum_of_array(emitter& e, ir::scalar s, llvm::Value* elements, llvm::Value* n) {
  auto* const vector = llvm::FixedVectorType::get(e.type(s), 8);
  auto const blocks = begin_loop(e, e.b.CreateAShr(n, 3), {no_lanes(e, s)});
  llvm::Value* const from = element_address(e, s, elements, e.b.CreateShl(blocks.index, 3));
  auto* const eight = e.b.CreateAlignedLoad(vector, from, llvm::Align(execute::size_of(s)));
  e.scopes.set_on(eight, ir::nothing);
  end_loop(e, blocks, {e.b.CreateFAdd(blocks.carried[0], eight)});
  llvm::Value* const done = e.b.CreateAnd(n, e.integer(-8));
  auto const rest = begin_loop(e, e.b.CreateSub(n, done), {blocks.carried[0]});
  llvm::Value* const x = load_scalar(e, s, element_address(e, s, elements, e.b.CreateAdd(done, rest.index)));
  llvm::Value* const lane = e.b.CreateExtractElement(rest.carried[0], rest.index);
  end_loop(e, rest, {e.b.CreateInsertElement(rest.carried[0], e.b.CreateFAdd(lane, x), rest.index)});
  return fold_lanes(e, rest.carried[0]);
}

} // namespace overdub::jit
