// Branches, loops, accumulators, protection.
#include "function.hpp"

#include <overdub/implementation/execute/buffer.hpp>

namespace overdub::jit {

void function_compiler::compile_region(region_id r) {
  node_id const last = f_.yield_of(r);
  for (node_id const n : f_.nodes_of(r)) {
    if (n == last) break;
    compile_node(n);
    finish(n);
  }
}

void function_compiler::compile_if(node_id n) {
  values const given = pass_into_regions(n);
  block const blocks[] = {new_block("then"), new_block("else")}, next = new_block("behind");
  b_.CreateCondBr(scalar(f_.operand(n, 0)), blocks[0], blocks[1]);
  block ends[2];
  std::vector<value> yielded[2];
  for (std::uint32_t k = 0; k < 2; ++k) {
    region_id const r = f_.region_at(n, k);
    at(blocks[k]);
    begin_region(r, given);
    compile_region(r);
    yielded[k] = transferred_yields(r, 0, f_[n].result_count);
    finish(f_.yield_of(r));
    ends[k] = b_.GetInsertBlock();
    go(next);
  }
  for (value_id const v : given) last_use_of_[index_of(v)] = ir::nothing;
  at(next);
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k) {
    value const &x = yielded[0][k], &y = yielded[1][k];
    value made;
    for (std::size_t i = 0; i < x.all.size(); ++i) {
      auto* const either = b_.CreatePHI(x.all[i]->getType(), 2);
      either->addIncoming(x.all[i], ends[0]);
      either->addIncoming(y.all[i], ends[1]);
      made.all.push_back(either);
    }
    made.unique = x.unique && y.unique;
    set(f_.result(n, k), std::move(made));
  }
}

// The initial loop-carried values, with references of their own.
std::vector<value>
function_compiler::initial_values(node_id n, std::uint32_t first_operand, std::uint32_t count) {
  std::vector<value> all;
  for (std::uint32_t k = 0; k < count; ++k) {
    value_id const v = f_.operand(n, first_operand + k);
    if (is_reference_counted(type_of(v)) && (order_.is_used_inside(v, n) || !transfer_reference(v, n)))
      retain(v);
    all.push_back(get(v));
    all.back().borrowed = false;
  }
  return all;
}

// ---- arrays that loops make

function_compiler::output
function_compiler::new_output(value_id result, value_id yielded, llvm::Value* count, ir::op code) {
  ir::type const t = type_of(result);
  output o{result, yielded};
  if (auto const& row = rows_[index_of(result)]) {
    require_not_negative(code, count);
    llvm::Value* const first = b_.CreateNSWMul(scalar(row->index), row->extent);
    llvm::Value* const none = llvm::ConstantPointerNull::get(pointer_type(context_));
    o.made = value{{element_address(t.element, row->elements, first), none, count}, false, true};
    o.is_row = true;
    return o;
  }
  if (t.rank == 1) {
    o.made = new_array(t, count, code);
    return o;
  }
  o.words = new_words(2 * words_of(t));
  (void)call(runtime_function::make_rows, {machine(), o.words, count, shape_code(t), number(code)});
  return o;
}
void function_compiler::store_output(output const& o, llvm::Value* index) {
  ir::type const t = type_of(o.result);
  if (o.is_filled) return;
  value const x = get(o.yielded);
  if (t.rank == 1)
    return store_scalar(t.element, x.all[0], element_address(t.element, o.made.elements(), index));
  llvm::Value* const row = byte_offset(o.words, 8 * words_of(t));
  store_words(t.element_type(), x, row);
  (void)call(
      runtime_function::store_row, {machine(), o.words, index, row, shape_code(t), number(ir::op::map)});
}
void function_compiler::finish_output(output const& o) {
  value made = o.words == nullptr ? o.made : load_words(type_of(o.result), o.words);
  made.unique = !o.is_row;
  set(o.result, std::move(made));
}

namespace {

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

} // namespace

void function_compiler::compile_loop(node_id n) {
  region_id const body = f_.region_at(n, 0);
  node_id const last = f_.yield_of(body);
  std::uint32_t const carried = f_[n].operand_count - 1;
  llvm::Value* const count = scalar(f_.operand(n, 0));
  std::vector<value> start = initial_values(n, 1, carried);
  std::vector<bool> const in_place = find_in_place(body, 1, start);
  llvm::Value* const size = f_[n].result_count > carried
                                ? b_.CreateSelect(b_.CreateICmpSGT(count, integer(0)), count, integer(0))
                                : nullptr;
  std::vector<output> outputs;
  for (std::uint32_t k = carried; k < f_[n].result_count; ++k)
    outputs.push_back(new_output(f_.result(n, k), f_.operand(last, k), size, f_[n].code));
  parts const ends = compile_versions(body, count, [&] {
    auto const loop = begin_loop(count, flat(start, in_place));
    llvm::Value* index = loop.index;
    if (f_[n].attributes.is_reversed()) index = b_.CreateSub(b_.CreateSub(count, integer(1)), index);
    set(f_.argument(body, 0), index);
    std::vector<value> const current =
        as_values(start, in_place, parts(loop.carried.begin(), loop.carried.end()));
    for (std::uint32_t k = 0; k < carried; ++k) set(f_.argument(body, k + 1), current[k]);
    live_in(f_.arguments_of(body), body);
    compile_region(body);
    for (output const& o : outputs) store_output(o, index);
    std::vector<value> const next = transferred_yields(body, 0, carried);
    finish(last);
    end_loop(loop, flat(next, in_place), is_short_with_calls(body));
    return parts(loop.carried.begin(), loop.carried.end());
  });
  std::vector<value> const current = as_values(start, in_place, ends);
  for (std::uint32_t k = 0; k < carried; ++k) set(f_.result(n, k), current[k]);
  for (output const& o : outputs) finish_output(o);
}

void function_compiler::compile_while(node_id n) {
  region_id const condition = f_.region_at(n, 0), body = f_.region_at(n, 1);
  node_id const decides = f_.yield_of(condition), last = f_.yield_of(body);
  std::uint32_t const carried = f_[n].operand_count;
  std::vector<value> const start = initial_values(n, 0, carried);
  std::vector<bool> const none(carried);
  parts first = flat(start, none);
  // Growing arrays. For arrays of scalars, owner and size are loop-carried; arrays of rows are in memory. The former start
  // with a capacity slightly above the size of the previous run.
  llvm::Value *memory = nullptr, *expected = nullptr;
  std::vector<output> outputs;
  for (std::uint32_t k = carried; k < f_[n].result_count; ++k) {
    output o{f_.result(n, k), f_.operand(last, k)};
    ir::type const t = type_of(o.result);
    if (t.rank == 1) {
      if (memory == nullptr) {
        memory = new_trip_count_memory();
        llvm::Value* const last_time = remembered(memory);
        expected = b_.CreateAdd(last_time, b_.CreateLShr(last_time, integer(3)));
      }
      first.push_back(call(
          runtime_function::take, {machine(), b_.CreateMul(expected, integer(execute::size_of(t.element)))}));
      first.push_back(integer(0));
    } else {
      o.words = new_words(2 * words_of(t));
      for (std::uint32_t axis = 0; axis < t.rank; ++axis)
        b_.CreateAlignedStore(integer(0), byte_offset(o.words, 8 * (2 + std::int64_t{axis})), llvm::Align(8));
      (void)call(runtime_function::make_array, {machine(), o.words, shape_code(t), number(ir::op::while_)});
    }
    outputs.push_back(o);
  }
  block const from = b_.GetInsertBlock(), header = new_block("while"), iteration = new_block("turn"),
              exit = new_block("done");
  go(header);
  at(header);
  std::vector<llvm::PHINode*> phis;
  for (llvm::Value* const x : first) {
    phis.push_back(b_.CreatePHI(x->getType(), 2));
    phis.back()->addIncoming(x, from);
  }
  std::vector<value> const current = as_values(start, none, parts(phis.begin(), phis.end()));
  for (std::uint32_t k = 0; k < carried; ++k) {
    set(f_.argument(condition, k), current[k]); // which the body still needs: this is no last use
    set(f_.argument(body, k), current[k]);
  }
  compile_region(condition);
  llvm::Value* const goes_on = scalar(f_.operand(decides, 0));
  finish(decides);
  b_.CreateCondBr(goes_on, iteration, exit);

  at(iteration);
  live_in(f_.arguments_of(body), body);
  compile_region(body);
  std::size_t where = flat(start, none).size();
  parts grown;
  for (output const& o : outputs) {
    ir::type const t = type_of(o.result);
    value const x = get(o.yielded);
    if (t.rank > 1) {
      llvm::Value* const row = byte_offset(o.words, 8 * words_of(t));
      store_words(t.element_type(), x, row);
      (void)call(runtime_function::push_row, {machine(), o.words, row, shape_code(t)});
      continue;
    }
    llvm::Value *const owner = phis[where++], *const size = phis[where++];
    llvm::Value* const each = integer(execute::size_of(t.element));
    llvm::Value* const used = b_.CreateMul(size, each);
    llvm::Value* const room = b_.CreateAlignedLoad(
        b_.getInt64Ty(), byte_offset(owner, offsetof(execute::buffer, bytes)), llvm::Align(8));
    block const full = new_block("full"), fits = new_block("fits"), before = b_.GetInsertBlock();
    branch_rarely(b_.CreateICmpUGT(b_.CreateAdd(used, each), room), full, fits);
    at(full);
    llvm::Value* const more = call(runtime_function::grown, {machine(), owner, used, each});
    block const grew = b_.GetInsertBlock();
    go(fits);
    at(fits);
    auto* const now = b_.CreatePHI(pointer(), 2);
    now->addIncoming(owner, before);
    now->addIncoming(more, grew);
    store_scalar(
        t.element, x.all[0], element_address(t.element, byte_offset(now, sizeof(execute::buffer)), size));
    grown.push_back(now);
    grown.push_back(b_.CreateAdd(size, integer(1)));
  }
  parts next = flat(transferred_yields(body, 0, carried), none);
  next.append(grown.begin(), grown.end());
  finish(last);
  for (std::size_t k = 0; k < next.size(); ++k) phis[k]->addIncoming(next[k], b_.GetInsertBlock());
  go(header);

  at(exit);
  for (std::uint32_t k = 0; k < carried; ++k) set(f_.result(n, k), current[k]);
  where = flat(start, none).size();
  if (memory != nullptr) remember(memory, phis[where + 1]);
  for (output& o : outputs) {
    if (o.words == nullptr) {
      llvm::Value *const owner = phis[where++], *const size = phis[where++];
      o.made = value{{byte_offset(owner, sizeof(execute::buffer)), owner, size}};
    }
    finish_output(o);
  }
}

// It starts at 0 when the code is loaded; threads write it without synchronisation, since any value is valid.
llvm::Value* function_compiler::new_trip_count_memory() {
  return new llvm::GlobalVariable(
      *shared_.module, b_.getInt64Ty(), false, llvm::GlobalValue::InternalLinkage, integer(0), "turns");
}
llvm::Value* function_compiler::remembered(llvm::Value* memory) {
  auto* const load = b_.CreateAlignedLoad(b_.getInt64Ty(), memory, llvm::Align(8));
  load->setAtomic(llvm::AtomicOrdering::Monotonic);
  return load;
}
void function_compiler::remember(llvm::Value* memory, llvm::Value* trip_count) {
  llvm::Value* const most = integer(maximum_remembered);
  llvm::Value* const now = b_.CreateSelect(b_.CreateICmpULT(trip_count, most), trip_count, most);
  block const other = new_block("other"), known = new_block("known");
  branch_rarely(b_.CreateICmpNE(now, remembered(memory)), other, known);
  at(other);
  b_.CreateAlignedStore(now, memory, llvm::Align(8))->setAtomic(llvm::AtomicOrdering::Monotonic);
  go(known);
  at(known);
}

// Accumulators are unique arrays while the region runs.
void function_compiler::compile_accumulate(node_id n) {
  region_id const region = f_.region_at(n, 0);
  std::uint32_t const count = f_[n].operand_count;
  std::vector<value> all = initial_values(n, 0, count);
  for (std::uint32_t k = 0; k < count; ++k) {
    make_unique(type_of(f_.result(n, k)), all[k]);
    set(f_.argument(region, k), all[k]);
  }
  // Alias scopes are valid in one run of the region; their declarations tell LLVM so, if the region is in a loop or is
  // copied.
  llvm::MDBuilder scopes(context_);
  llvm::MDNode* const domain = scopes.createAnonymousAliasScopeDomain("accumulators");
  std::size_t const enclosing = accumulators_.size();
  for (value_id const v : f_.arguments_of(region)) {
    llvm::MDNode* const scope = scopes.createAnonymousAliasScope(domain);
    accumulators_.push_back({v, scope});
    b_.CreateNoAliasScopeDeclaration(llvm::MDNode::get(context_, {scope}));
  }
  values const given = pass_into_regions(n);
  begin_region(region, given);
  compile_region(region);
  accumulators_.resize(enclosing);
  std::vector<value> const more = transferred_yields(region, 0, f_[n].result_count - count);
  finish(f_.yield_of(region));
  for (value_id const v : given) last_use_of_[index_of(v)] = ir::nothing;
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k)
    set(f_.result(n, k), k < count ? all[k] : more[k - count]);
}

// An exception of the first region is caught, and rethrown after the second region. An exception of the second region
// replaces it.
void function_compiler::compile_protect(node_id n) {
  region_id const tried = f_.region_at(n, 0), failed = f_.region_at(n, 1);
  auto& m = *shared_.module;
  if (!made_->hasPersonalityFn())
    made_->setPersonalityFn(llvm::cast<llvm::Function>(
        m.getOrInsertFunction("__gxx_personality_v0", llvm::FunctionType::get(b_.getInt32Ty(), true))
            .getCallee()));
  auto function = [&](char const* name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters) {
    auto f = m.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
    llvm::cast<llvm::Function>(f.getCallee())->setDoesNotThrow();
    return f;
  };
  auto const begin_catch = function("__cxa_begin_catch", pointer(), {pointer()});
  auto const end_catch = function("__cxa_end_catch", b_.getVoidTy(), {});
  auto* const caught = llvm::StructType::get(context_, {pointer(), b_.getInt32Ty()});

  // Invokes unwind to one block; exceptions from nested handlers join after its landing pad.
  auto const new_handler = [&](char const* name, bool catches) {
    return handler{new_block(name), llvm::PHINode::Create(pointer(), 2, "", new_block(name)), catches};
  };
  auto const land = [&](handler const& h) {
    at(h.landing);
    auto* const pad = b_.CreateLandingPad(caught, 1);
    if (h.catches)
      pad->addClause(llvm::ConstantPointerNull::get(pointer_type(context_)));
    else
      pad->setCleanup(true);
    h.exception->addIncoming(b_.CreateExtractValue(pad, 0), h.landing);
    go(h.exception->getParent());
    at(h.exception->getParent());
  };
  block const next = new_block("behind");
  auto const enclosing = handler_;
  handler const catching = new_handler("caught", true);
  handler const leaving = new_handler("leaves", enclosing && enclosing->catches);
  handler_ = catching;
  compile_region(tried);
  std::vector<value> const results = transferred_yields(tried, 0, f_[n].result_count);
  finish(f_.yield_of(tried));
  go(next);

  land(catching);
  (void)b_.CreateCall(begin_catch, {catching.exception});
  // Exceptions of the second region leave the handler.
  handler_ = leaving;
  compile_region(failed);
  finish(f_.yield_of(failed));
  (void)call(runtime_function::rethrow, {});
  b_.CreateUnreachable();

  land(leaving);
  b_.CreateCall(end_catch, {});
  handler_ = enclosing;
  if (enclosing) {
    enclosing->exception->addIncoming(leaving.exception, b_.GetInsertBlock());
    go(enclosing->exception->getParent());
  } else {
    llvm::Value* const resumed = b_.CreateInsertValue(llvm::PoisonValue::get(caught), leaving.exception, 0);
    b_.CreateResume(b_.CreateInsertValue(resumed, b_.getInt32(0), 1));
  }
  at(next);
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k) set(f_.result(n, k), results[k]);
}

} // namespace overdub::jit
