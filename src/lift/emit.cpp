#include "emit.hpp"

#include "addresses.hpp"
#include "arrays.hpp"
#include "environment.hpp"
#include "indirect_calls.hpp"
#include "native_calls.hpp"
#include "prepare.hpp"
#include "trip_count.hpp"
#include "values.hpp"

#include <algorithm>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>

namespace overdub::lifting {
namespace {

using ir::op;
using ir::value_id;
using value_list = ir::builder::values;

// ---- instructions

class instruction_emitter {
public:
  instruction_emitter(environment& e, module_plan const& all) : e_(e), c_(e.c), all_(all) {}

  void emit_block(llvm::BasicBlock const& b) {
    for (llvm::Instruction const& i : b) {
      if (llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::AllocaInst>(i)) continue;
      auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
      if (call && is_ignored(*call) && !is_abort(*call)) continue;
      locate(i);
      emit(i);
    }
    assign_phis(b);
  }

private:
  void locate(llvm::Instruction const& i) {
    llvm::DILocation const* const at = i.getDebugLoc().get();
    if (!at || at->getLine() == 0) return c_.set_place(ir::nothing);
    auto const [known, is_new] = places_.try_emplace(at, ir::place_id(ir::nothing));
    if (is_new) known->second = c_.owner().add_place(at->getFilename().str(), at->getLine(), at->getColumn());
    c_.set_place(known->second);
  }
  void emit(llvm::Instruction const& i) {
    if (i.isTerminator()) return emit_end(i);
    auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (call && is_abort(*call)) return emit_failure(calls_without_return);
    if (call && is_requirement(*call)) return emit_requirement(*call);
    if (call && is_dispatcher(*e_.plan.function) && !is_lifted(*call)) return emit_refused_call(*call);
    if (call && is_native_call(*call)) return emit_native_call(e_, *call);
    if (e_.plan.memory.is_linear ? emit_with_addresses(i) : emit_with_arrays(i)) return;
    if (llvm::isa<llvm::InsertValueInst>(i) || llvm::isa<llvm::ExtractValueInst>(i))
      return; // emitted by the return, and by the call
    value_list operands;
    for (llvm::Value const* v : i.operands())
      if (!(call && call->getCalledOperand() == v) && !v->getType()->isMetadataTy())
        operands.push_back(e_[v]);
    e_.set(&i, emit_scalar(c_, i, operands));
  }
  // What has to do with memory. Returns whether it is that.
  bool emit_with_arrays(llvm::Instruction const& i) {
    auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (auto const* load = llvm::dyn_cast<llvm::LoadInst>(&i))
      emit_load(e_, *load);
    else if (auto const* store = llvm::dyn_cast<llvm::StoreInst>(&i))
      emit_store(e_, *store);
    else if (auto const* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&i))
      emit_copy(e_, *copy);
    else if (auto const* gep = llvm::dyn_cast<llvm::GEPOperator>(&i))
      e_.set(&i, index_of(e_, *gep));
    else if (auto const* address = llvm::dyn_cast<llvm::PtrToIntInst>(&i))
      emit_address(*address);
    else if (call && allocation_of(*call) != allocation::none)
      emit_allocation(e_, *call);
    else if (call && all_.of(call->getCalledFunction()))
      emit_call(e_, *call, all_);
    else
      return false;
    return true;
  }
  bool emit_with_addresses(llvm::Instruction const& i) {
    if (is_in_memory(i, all_))
      emit_in_memory(e_, i, all_);
    else if (auto const* gep = llvm::dyn_cast<llvm::GEPOperator>(&i))
      e_.set(&i, address_of(e_, *gep));
    else if (llvm::isa<llvm::PtrToIntInst>(i) || llvm::isa<llvm::IntToPtrInst>(i))
      e_.set(&i, e_[i.getOperand(0)]);
    else
      return false;
    return true;
  }
  static constexpr char const* calls_without_return = "a function that does not return is called";
  static constexpr char const* is_not_reached = "this is not reached";
  static constexpr char const* is_other_pointer =
      "a call through a pointer to no function that is lifted, or to one of another type";
  void emit_requirement(llvm::CallBase const& call) {
    bool const calls = llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->isOne();
    emit_requirement(
        e_[call.getArgOperand(0)], is_dispatcher(*e_.plan.function) ? is_other_pointer
                                   : calls                          ? calls_without_return
                                                                    : is_not_reached);
  }
  // A dispatcher calls all functions that pointers may point to. One that is refused is an error where it is called.
  bool is_lifted(llvm::CallBase const& call) const {
    llvm::Function const* const callee = call.getCalledFunction();
    return callee->isDeclaration() || all_.linear_of(callee) || (all_.of(callee) && !has_pointers(*callee));
  }
  void emit_refused_call(llvm::CallBase const& call) {
    emit_failure(is_other_pointer);
    value_list results;
    for (llvm::Type const* t : result_types(*call.getCalledFunction()))
      results.push_back(zero_of(c_, scalar_type(t)));
    e_.set_results(call, results);
  }
  void emit_requirement(value_id holds, char const* otherwise) {
    c_.insert(
        op::assert_, value_list{holds}, ir::cursor::types{},
        ir::attributes::of(c_.owner().intern(otherwise)));
  }
  void emit_failure(char const* message) { emit_requirement(c_.literal(false), message); }
  void emit_end(llvm::Instruction const& i) {
    if (auto const* end = llvm::dyn_cast<llvm::ReturnInst>(&i)) {
      std::vector<llvm::Value const*> const results = returned_scalars(*end);
      for (std::size_t k = 0; k < results.size(); ++k)
        e_.set_variable(e_.plan.variables.results[k], e_[results[k]]);
    }
    if (llvm::isa<llvm::UnreachableInst>(i)) emit_failure(is_not_reached);
  }
  // Differences of addresses in one array alone are used.
  void emit_address(llvm::PtrToIntInst const& i) {
    llvm::Value const* const pointer = i.getPointerOperand();
    std::uint64_t const bytes = e_.plan.memory.objects[e_.plan.memory.object_at(pointer)].element.bytes();
    e_.set(&i, c_.add(op::mul, e_[pointer], c_.literal(static_cast<std::int64_t>(bytes))));
  }
  // The phis of the successors, which are assigned at once.
  void assign_phis(llvm::BasicBlock const& b) {
    std::vector<std::pair<llvm::PHINode const*, value_id>> next;
    for (llvm::BasicBlock const* s : llvm::successors(&b))
      for (llvm::PHINode const& phi : s->phis()) next.emplace_back(&phi, e_.incoming(phi, b));
    for (auto const& [phi, x] : next) e_.set(phi, x);
  }

  environment& e_;
  ir::cursor& c_;
  module_plan const& all_;
  llvm::DenseMap<llvm::DILocation const*, ir::place_id> places_;
};

// ---- control flow

class tree_emitter {
public:
  tree_emitter(environment& e, module_plan const& all)
      : e_(e), c_(e.c), plan_(e.plan), instructions_(e, all) {}

  void emit_sequence(std::uint32_t n) {
    for (std::uint32_t const child : plan_.tree.nodes[n].children) emit(child);
  }

private:
  std::uint32_t auxiliary(std::uint32_t v) const { return plan_.variables.first_auxiliary + v; }
  std::vector<std::uint32_t> const& changed_by(std::uint32_t n) const { return plan_.variables.changed[n]; }
  void set(std::vector<std::uint32_t> const& variables, value_list const& all) {
    for (std::size_t i = 0; i < variables.size(); ++i) e_.set_variable(variables[i], all[i]);
  }

  void emit(std::uint32_t n) {
    tree::node const& x = plan_.tree.nodes[n];
    switch (x.is) {
    case tree::kind::sequence:
      return emit_sequence(n);
    case tree::kind::block:
      return instructions_.emit_block(*plan_.blocks[x.subject]);
    case tree::kind::assignment:
      return assign(x);
    case tree::kind::branch: {
      auto const* const branch = llvm::cast<llvm::BranchInst>(plan_.blocks[x.subject]->getTerminator());
      return set(changed_by(n), emit_if(n, e_[branch->getCondition()], x.children[0], x.children[1]));
    }
    case tree::kind::selection:
      return set(changed_by(n), emit_selection(n, 0, x.children.size()));
    case tree::kind::loop:
      break;
    }
    auto const headed = plan_.headed.find(n);
    if (headed == plan_.headed.end()) return emit_repeat(n);
    return headed->second.is_counted ? emit_loop(n, headed->second) : emit_while(n, headed->second);
  }
  void assign(tree::node const& x) {
    bool const is_bool = plan_.tree.value_count[x.subject] == 2;
    e_.set_variable(
        auxiliary(x.subject), is_bool ? c_.literal(x.value != 0) : c_.literal(std::int64_t{x.value}));
  }

  // Emits in a region, and returns the values of variables at its end.
  template <class Emit>
  value_list in_region(std::uint32_t n, Emit const& inside) {
    environment::mark const before = e_.now();
    inside();
    value_list results = e_.variables(changed_by(n));
    e_.back_to(before);
    return results;
  }
  value_list emit_if(std::uint32_t n, value_id condition, std::uint32_t then, std::uint32_t otherwise) {
    return ir::builder(c_)
        .if_(
            condition, [&] { return in_region(n, [&] { emit_sequence(then); }); },
            [&] { return in_region(n, [&] { emit_sequence(otherwise); }); })
        .results;
  }
  // The children of a selection from `first` to before `last`, by bisection.
  value_list emit_selection(std::uint32_t n, std::size_t first, std::size_t last) {
    tree::node const& x = plan_.tree.nodes[n];
    if (last - first == 1) return in_region(n, [&] { emit_sequence(x.children[first]); });
    value_id const selector = e_.variable(auxiliary(x.subject));
    if (x.children.size() == 2) return emit_if(n, selector, x.children[1], x.children[0]);
    std::size_t const middle = first + (last - first) / 2;
    value_id const below = c_.add(op::lt, selector, c_.literal(static_cast<std::int64_t>(middle)));
    return ir::builder(c_)
        .if_(
            below, [&] { return emit_selection(n, first, middle); },
            [&] { return emit_selection(n, middle, last); })
        .results;
  }

  // A loop whose condition is at its end: a loop-carried bool says whether it continues.
  void emit_repeat(std::uint32_t n) {
    tree::node const& x = plan_.tree.nodes[n];
    std::vector<std::uint32_t> const& carried = changed_by(n);
    value_list initial = e_.variables(carried);
    initial.push_back(c_.literal(true));
    value_list results = ir::builder(c_)
                             .while_(
                                 initial, [](value_list const& now) { return now.back(); },
                                 [&](value_list const& now) {
                                   bool_value continues = {};
                                   value_list next = in_region(n, [&] {
                                     set(carried, now);
                                     emit_sequence(x.children.front());
                                     continues.is = e_.variable(auxiliary(x.subject));
                                   });
                                   next.push_back(continues.is);
                                   return next;
                                 })
                             .results;
    set(carried, results);
  }
  // A loop whose condition is in its header. The header runs again for the values that it computes, and at the end.
  void emit_while(std::uint32_t n, headed_loop const& loop) {
    std::vector<std::uint32_t> const& carried = changed_by(n);
    llvm::BasicBlock const& header = *plan_.blocks[plan_.tree.nodes[loop.header].subject];
    auto const* const branch = llvm::cast<llvm::BranchInst>(header.getTerminator());
    auto const condition = [&](value_list const& now) {
      environment::mark const before = e_.now();
      set(carried, now);
      instructions_.emit_block(header);
      value_id const holds = e_[branch->getCondition()];
      e_.back_to(before);
      return loop.continues_if ? holds : c_.add(op::logical_not, holds);
    };
    auto const body = [&](value_list const& now) {
      return in_region(n, [&] {
        set(carried, now);
        instructions_.emit_block(header);
        emit_sequence(loop.continuing);
      });
    };
    set(carried, ir::builder(c_).while_(e_.variables(carried), condition, body).results);
    instructions_.emit_block(header);
    emit_sequence(loop.leaving);
  }
  struct bool_value {
    value_id is = ir::nothing;
  };

  // The header runs once more at the end, as it does in the original; what is not used of it is dead code.
  void emit_loop(std::uint32_t n, headed_loop const& loop) {
    std::uint32_t const index = plan_.variables.of(loop.index);
    llvm::BasicBlock const& header = *plan_.blocks[plan_.tree.nodes[loop.header].subject];
    value_id const start = e_.variable(index);
    environment::mark const before = e_.now();
    for (llvm::Instruction const* i : loop.prepares) prepare(*i);
    value_id const bound = e_[loop.bound];
    e_.back_to(before);
    value_id const count = trip_count(c_, loop, first_compared(c_, loop, start), bound);

    std::vector<std::uint32_t> carried = changed_by(n);
    std::erase(carried, index);
    value_list const results = ir::builder(c_)
                                   .loop(
                                       count, e_.variables(carried),
                                       [&](value_id k, value_list const& now) {
                                         environment::mark const outside = e_.now();
                                         set(carried, now);
                                         e_.set_variable(index, index_after(c_, loop, start, k));
                                         instructions_.emit_block(header);
                                         emit_sequence(loop.continuing);
                                         value_list next = e_.variables(carried);
                                         e_.back_to(outside);
                                         return next;
                                       })
                                   .results;
    set(carried, results);
    e_.set_variable(index, index_after(c_, loop, start, iterations(c_, count)));
    instructions_.emit_block(header);
    emit_sequence(loop.leaving);
  }
  void prepare(llvm::Instruction const& i) {
    value_list operands;
    for (llvm::Value const* v : i.operands()) operands.push_back(e_[v]);
    e_.set(&i, emit_scalar(c_, i, operands));
  }

  environment& e_;
  ir::cursor& c_;
  function_plan const& plan_;
  instruction_emitter instructions_;
};

} // namespace

void emit(ir::program& p, module_plan const& all, function_plan const& plan) {
  ir::cursor c(p, plan.id, ir::function::body);
  environment e(plan, all.layout, c);
  enter_frame(e, all);
  tree_emitter(e, all).emit_sequence(plan.tree.root);
  c.set_place(ir::nothing);
  leave_frame(e, all);
  value_list results;
  for (std::uint32_t const v : plan.variables.results) results.push_back(e.variable(v));
  for (std::uint32_t k = 0; k < plan.memory.objects.size(); ++k)
    if (is_returned(plan.memory.objects[k])) results.push_back(e.array_of(k));
  c.yield(results);
}

} // namespace overdub::lifting
