#include "control.hpp"

#include "arrays.hpp"
#include "bounds_checks.hpp"
#include "counted_loop.hpp"
#include "memory_access.hpp"
#include "operations.hpp"
#include "outputs.hpp"
#include "reference_counts.hpp"

#include <overdub/implementation/execute/buffer.hpp>

namespace overdub::jit {
namespace {

constexpr std::int64_t maximum_remembered = 1 << 16; // the maximum capacity to reserve

// The parts of values, except those that are updated in place.
parts flat(std::vector<value> const& all, std::vector<bool> const& in_place) {
  parts every;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (!in_place[k]) every.append(all[k].all.begin(), all[k].all.end());
  return every;
}

// The values made of the loop's parts.
std::vector<value> as_values(
    std::vector<value> const& like, std::vector<bool> const& in_place, llvm::ArrayRef<llvm::Value*> all) {
  std::vector<value> made;
  std::size_t at = 0;
  for (std::size_t k = 0; k < like.size(); ++k) {
    made.emplace_back();
    if (in_place[k])
      made.back() = like[k];
    else
      for (std::size_t i = 0; i < like[k].all.size(); ++i) made.back().all.push_back(all[at++]);
  }
  return made;
}

// Whether to request unrolling, which saves moves of loop-carried values: a short body of elementwise operations with
// a costly one, which is usually a call. LLVM does not unroll loops with calls by itself.
bool is_short_with_calls(ir::function const& f, region_id body) {
  std::uint32_t operations = 0;
  bool calls = false;
  for (node_id const n : f.nodes_of(body)) {
    ir::op const code = f[n].code;
    if (!ir::is_elementwise(code) && code != ir::op::yield) return false;
    calls = calls || ir::row_of(code).cost > 15;
    ++operations;
  }
  return calls && operations < 32;
}

// Makes the buffers of loop-carried arrays that stay in place unique. Returns which values stay in place.
std::vector<bool> begin_in_place(function_state& fn, node_id n, std::vector<value>& start) {
  std::vector<bool> found(start.size());
  for (std::uint32_t k = 0; k < start.size(); ++k) {
    value_id const v = fn.f.argument(fn.f.region_at(n, 0), 1 + k);
    if (!fn.in_place.has(v)) continue;
    found[k] = true;
    if (!fn.counts.is_unique(n, 1 + k)) make_unique(fn, fn.type_of(v), start[k]);
    fn.set(v, start[k]);
  }
  return found;
}

// A word of the module for the trip count of a loop in the previous run. It starts at 0 when the code is loaded;
// threads write it without synchronisation, since any value is valid.
llvm::Value* new_trip_count_memory(function_state& fn) {
  return new llvm::GlobalVariable(
      fn.e.module(), fn.b.getInt64Ty(), false, llvm::GlobalValue::InternalLinkage, fn.e.integer(0),
      "iterations");
}

llvm::Value* remembered(function_state& fn, llvm::Value* memory) {
  auto* const load = fn.b.CreateAlignedLoad(fn.b.getInt64Ty(), memory, llvm::Align(8));
  load->setAtomic(llvm::AtomicOrdering::Monotonic);
  return load;
}

void remember(function_state& fn, llvm::Value* memory, llvm::Value* trip_count) {
  llvm::Value* const most = fn.e.integer(maximum_remembered);
  llvm::Value* const now = fn.b.CreateSelect(fn.b.CreateICmpULT(trip_count, most), trip_count, most);
  block const other = fn.e.new_block("other"), known = fn.e.new_block("known");
  fn.e.branch_rarely(fn.b.CreateICmpNE(now, remembered(fn, memory)), other, known);
  fn.e.at(other);
  fn.b.CreateAlignedStore(now, memory, llvm::Align(8))->setAtomic(llvm::AtomicOrdering::Monotonic);
  fn.e.go(known);
  fn.e.at(known);
}

// The buffer of a growing array of `size` scalars, with room for one more.
llvm::Value* with_room(function_state& fn, ir::scalar s, llvm::Value* owner, llvm::Value* size) {
  llvm::Value* const each = fn.e.integer(execute::size_of(s));
  llvm::Value* const used = fn.b.CreateMul(size, each);
  llvm::Value* const room = fn.b.CreateAlignedLoad(
      fn.b.getInt64Ty(), byte_offset(fn.e, owner, offsetof(execute::buffer, bytes)), llvm::Align(8));
  block const full = fn.e.new_block("full"), fits = fn.e.new_block("fits"), before = fn.b.GetInsertBlock();
  fn.e.branch_rarely(fn.b.CreateICmpUGT(fn.b.CreateAdd(used, each), room), full, fits);
  fn.e.at(full);
  llvm::Value* const more = fn.e.call(runtime_function::grown, {fn.e.machine(), owner, used, each});
  block const grew = fn.b.GetInsertBlock();
  fn.e.go(fits);
  fn.e.at(fits);
  auto* const now = fn.b.CreatePHI(fn.e.pointer(), 2);
  now->addIncoming(owner, before);
  now->addIncoming(more, grew);
  return now;
}

} // namespace

void emit_if(function_state& fn, node_id n) {
  block const blocks[] = {fn.e.new_block("then"), fn.e.new_block("else")}, next = fn.e.new_block("after");
  fn.b.CreateCondBr(fn.scalar(fn.f.operand(n, 0)), blocks[0], blocks[1]);
  block ends[2];
  std::vector<value> yielded[2];
  for (std::uint32_t k = 0; k < 2; ++k) {
    region_id const r = fn.f.region_at(n, k);
    fn.e.at(blocks[k]);
    emit_region(fn, r);
    yielded[k] = passed_values(fn, fn.f.yield_of(r), 0, fn.f[n].result_count);
    release_after(fn, fn.f.yield_of(r));
    ends[k] = fn.b.GetInsertBlock();
    fn.e.go(next);
  }
  fn.e.at(next);
  for (std::uint32_t k = 0; k < fn.f[n].result_count; ++k) {
    value const &x = yielded[0][k], &y = yielded[1][k];
    value made;
    for (std::size_t i = 0; i < x.all.size(); ++i) {
      auto* const either = fn.b.CreatePHI(x.all[i]->getType(), 2);
      either->addIncoming(x.all[i], ends[0]);
      either->addIncoming(y.all[i], ends[1]);
      made.all.push_back(either);
    }
    fn.set(fn.f.result(n, k), std::move(made));
  }
}

void emit_loop(function_state& fn, node_id n) {
  region_id const body = fn.f.region_at(n, 0);
  node_id const last = fn.f.yield_of(body);
  std::uint32_t const carried = fn.f[n].operand_count - 1;
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  std::vector<value> start = passed_values(fn, n, 1, carried);
  std::vector<bool> const in_place = begin_in_place(fn, n, start);
  llvm::Value* const size =
      fn.f[n].result_count > carried
          ? fn.b.CreateSelect(fn.b.CreateICmpSGT(count, fn.e.integer(0)), count, fn.e.integer(0))
          : nullptr;
  std::vector<output> outputs;
  for (std::uint32_t k = carried; k < fn.f[n].result_count; ++k)
    outputs.push_back(new_output(fn, fn.f.result(n, k), fn.f.operand(last, k), size, fn.f[n].code));
  parts const ends = emit_versions(fn, body, count, [&] {
    auto const loop = begin_loop(fn.e, count, flat(start, in_place));
    llvm::Value* index = loop.index;
    if (fn.f[n].attributes.is_reversed())
      index = fn.b.CreateSub(fn.b.CreateSub(count, fn.e.integer(1)), index);
    fn.set(fn.f.argument(body, 0), index);
    std::vector<value> const current = as_values(start, in_place, loop.carried_parts());
    for (std::uint32_t k = 0; k < carried; ++k) fn.set(fn.f.argument(body, k + 1), current[k]);
    emit_region(fn, body);
    for (output const& o : outputs) store_output(fn, o, index);
    std::vector<value> const next = passed_values(fn, last, 0, carried);
    release_after(fn, last);
    end_loop(fn.e, loop, flat(next, in_place), is_short_with_calls(fn.f, body));
    return loop.carried_parts();
  });
  std::vector<value> const current = as_values(start, in_place, ends);
  for (std::uint32_t k = 0; k < carried; ++k) fn.set(fn.f.result(n, k), current[k]);
  for (output const& o : outputs) finish_output(fn, o);
}

void emit_while(function_state& fn, node_id n) {
  region_id const condition = fn.f.region_at(n, 0), body = fn.f.region_at(n, 1);
  node_id const decides = fn.f.yield_of(condition), last = fn.f.yield_of(body);
  std::uint32_t const carried = fn.f[n].operand_count;
  std::vector<value> const start = passed_values(fn, n, 0, carried);
  std::vector<bool> const none(carried);
  parts first = flat(start, none);
  // Growing arrays. For arrays of scalars, owner and size are loop-carried; arrays of rows are in memory. The former
  // start with a capacity slightly above the size of the previous run.
  llvm::Value *memory = nullptr, *expected = nullptr;
  std::vector<output> outputs;
  for (std::uint32_t k = carried; k < fn.f[n].result_count; ++k) {
    output o{fn.f.result(n, k), fn.f.operand(last, k)};
    ir::type const t = fn.type_of(o.result);
    if (t.rank == 1) {
      if (memory == nullptr) {
        memory = new_trip_count_memory(fn);
        llvm::Value* const last_time = remembered(fn, memory);
        expected = fn.b.CreateAdd(last_time, fn.b.CreateLShr(last_time, fn.e.integer(3)));
      }
      first.push_back(fn.e.call(
          runtime_function::take,
          {fn.e.machine(), fn.b.CreateMul(expected, fn.e.integer(execute::size_of(t.element)))}));
      first.push_back(fn.e.integer(0));
    } else {
      o.words = fn.e.new_words(2 * words_of(t));
      for (std::uint32_t axis = 0; axis < t.rank; ++axis)
        fn.b.CreateAlignedStore(
            fn.e.integer(0), byte_offset(fn.e, o.words, 8 * (2 + std::int64_t{axis})), llvm::Align(8));
      (void)fn.e.call(
          runtime_function::make_array,
          {fn.e.machine(), o.words, shape_code(fn.e, t), fn.number(ir::op::while_)});
    }
    outputs.push_back(o);
  }
  block const from = fn.b.GetInsertBlock(), header = fn.e.new_block("while"),
              iteration = fn.e.new_block("body"), exit = fn.e.new_block("done");
  fn.e.go(header);
  fn.e.at(header);
  std::vector<llvm::PHINode*> phis;
  for (llvm::Value* const x : first) {
    phis.push_back(fn.b.CreatePHI(x->getType(), 2));
    phis.back()->addIncoming(x, from);
  }
  std::vector<value> const current = as_values(start, none, parts(phis.begin(), phis.end()));
  for (std::uint32_t k = 0; k < carried; ++k) {
    fn.set(fn.f.argument(condition, k), current[k]); // which the body still needs: this is no last use
    fn.set(fn.f.argument(body, k), current[k]);
  }
  emit_region(fn, condition);
  llvm::Value* const goes_on = fn.scalar(fn.f.operand(decides, 0));
  release_after(fn, decides);
  fn.b.CreateCondBr(goes_on, iteration, exit);

  fn.e.at(iteration);
  emit_region(fn, body);
  std::size_t where = flat(start, none).size();
  parts grown;
  for (output const& o : outputs) {
    ir::type const t = fn.type_of(o.result);
    value const x = fn.get(o.yielded);
    if (t.rank > 1) {
      llvm::Value* const row = byte_offset(fn.e, o.words, 8 * words_of(t));
      store_words(fn.e, t.element_type(), x, row);
      (void)fn.e.call(runtime_function::push_row, {fn.e.machine(), o.words, row, shape_code(fn.e, t)});
      continue;
    }
    llvm::Value *const owner = phis[where++], *const size = phis[where++];
    llvm::Value* const now = with_room(fn, t.element, owner, size);
    store_scalar(
        fn.e, t.element, x.all[0],
        element_address(fn.e, t.element, byte_offset(fn.e, now, sizeof(execute::buffer)), size));
    grown.push_back(now);
    grown.push_back(fn.b.CreateAdd(size, fn.e.integer(1)));
  }
  parts next = flat(passed_values(fn, last, 0, carried), none);
  next.append(grown.begin(), grown.end());
  release_after(fn, last);
  for (std::size_t k = 0; k < next.size(); ++k) phis[k]->addIncoming(next[k], fn.b.GetInsertBlock());
  fn.e.go(header);

  fn.e.at(exit);
  for (std::uint32_t k = 0; k < carried; ++k) fn.set(fn.f.result(n, k), current[k]);
  where = flat(start, none).size();
  if (memory != nullptr) remember(fn, memory, phis[where + 1]);
  for (output& o : outputs) {
    if (o.words == nullptr) {
      llvm::Value *const owner = phis[where++], *const size = phis[where++];
      o.made = value{{byte_offset(fn.e, owner, sizeof(execute::buffer)), owner, size}};
    }
    finish_output(fn, o);
  }
}

// Accumulators are unique arrays while the region runs.
void emit_accumulate(function_state& fn, node_id n) {
  region_id const region = fn.f.region_at(n, 0);
  std::uint32_t const count = fn.f[n].operand_count;
  std::vector<value> all = passed_values(fn, n, 0, count);
  for (std::uint32_t k = 0; k < count; ++k) {
    if (!fn.counts.is_unique(n, k)) make_unique(fn, fn.type_of(fn.f.result(n, k)), all[k]);
    fn.set(fn.f.argument(region, k), all[k]);
  }
  // Alias scopes are valid in one run of the region; their declarations tell LLVM so, if the region is in a loop or is
  // copied.
  llvm::MDBuilder scopes(fn.e.context);
  llvm::MDNode* const domain = scopes.createAnonymousAliasScopeDomain("accumulators");
  std::size_t const enclosing = fn.e.scopes.depth();
  for (value_id const v : fn.f.arguments_of(region)) {
    llvm::MDNode* const scope = scopes.createAnonymousAliasScope(domain);
    fn.e.scopes.enter(v, scope);
    fn.b.CreateNoAliasScopeDeclaration(llvm::MDNode::get(fn.e.context, {scope}));
  }
  emit_region(fn, region);
  fn.e.scopes.leave_to(enclosing);
  node_id const last = fn.f.yield_of(region);
  std::vector<value> const more = passed_values(fn, last, 0, fn.f[n].result_count - count);
  release_after(fn, last);
  for (std::uint32_t k = 0; k < fn.f[n].result_count; ++k)
    fn.set(fn.f.result(n, k), k < count ? all[k] : more[k - count]);
}

// An exception of the first region is caught, and rethrown after the second region. An exception of the second region
// replaces it.
void emit_protect(function_state& fn, node_id n) {
  region_id const tried = fn.f.region_at(n, 0), failed = fn.f.region_at(n, 1);
  auto& m = fn.e.module();
  if (!fn.e.function.hasPersonalityFn())
    fn.e.function.setPersonalityFn(llvm::cast<llvm::Function>(
        m.getOrInsertFunction("__gxx_personality_v0", llvm::FunctionType::get(fn.b.getInt32Ty(), true))
            .getCallee()));
  auto function = [&](char const* name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters) {
    auto f = m.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
    llvm::cast<llvm::Function>(f.getCallee())->setDoesNotThrow();
    return f;
  };
  auto const begin_catch = function("__cxa_begin_catch", fn.e.pointer(), {fn.e.pointer()});
  auto const end_catch = function("__cxa_end_catch", fn.b.getVoidTy(), {});
  auto* const caught = llvm::StructType::get(fn.e.context, {fn.e.pointer(), fn.b.getInt32Ty()});

  // Invokes unwind to one block; exceptions from nested handlers join after its landing pad.
  auto const new_handler = [&](char const* name, bool catches) {
    return handler{
        fn.e.new_block(name), llvm::PHINode::Create(fn.e.pointer(), 2, "", fn.e.new_block(name)), catches};
  };
  auto const land = [&](handler const& h) {
    fn.e.at(h.landing);
    auto* const pad = fn.b.CreateLandingPad(caught, 1);
    if (h.catches)
      pad->addClause(fn.e.null());
    else
      pad->setCleanup(true);
    h.exception->addIncoming(fn.b.CreateExtractValue(pad, 0), h.landing);
    fn.e.go(h.exception->getParent());
    fn.e.at(h.exception->getParent());
  };
  block const next = fn.e.new_block("after");
  auto const enclosing = fn.e.current_handler;
  handler const catching = new_handler("caught", true);
  handler const leaving = new_handler("leaves", enclosing && enclosing->catches);
  fn.e.current_handler = catching;
  emit_region(fn, tried);
  std::vector<value> const results = passed_values(fn, fn.f.yield_of(tried), 0, fn.f[n].result_count);
  release_after(fn, fn.f.yield_of(tried));
  fn.e.go(next);

  land(catching);
  (void)fn.b.CreateCall(begin_catch, {catching.exception});
  // Exceptions of the second region leave the handler.
  fn.e.current_handler = leaving;
  emit_region(fn, failed);
  release_after(fn, fn.f.yield_of(failed));
  (void)fn.e.call(runtime_function::rethrow, {});
  fn.b.CreateUnreachable();

  land(leaving);
  fn.b.CreateCall(end_catch, {});
  fn.e.current_handler = enclosing;
  if (enclosing) {
    enclosing->exception->addIncoming(leaving.exception, fn.b.GetInsertBlock());
    fn.e.go(enclosing->exception->getParent());
  } else {
    llvm::Value* const resumed = fn.b.CreateInsertValue(llvm::PoisonValue::get(caught), leaving.exception, 0);
    fn.b.CreateResume(fn.b.CreateInsertValue(resumed, fn.b.getInt32(0), 1));
  }
  fn.e.at(next);
  for (std::uint32_t k = 0; k < fn.f[n].result_count; ++k) fn.set(fn.f.result(n, k), results[k]);
}

} // namespace overdub::jit
