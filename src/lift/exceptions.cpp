#include "exceptions.hpp"

#include "callees_first.hpp"
#include "linear_memory.hpp"
#include "prepare.hpp"

#include <algorithm>
#include <array>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::lifting {
namespace {

// ---- types of exceptions

// The classes of exceptions of the standard library, of which modules have no descriptions, and the base of each.
struct library_class {
  std::string_view name, base;
};
constexpr std::array library_classes{
    library_class{"exception", ""},
    library_class{"logic_error", "exception"},
    library_class{"domain_error", "logic_error"},
    library_class{"invalid_argument", "logic_error"},
    library_class{"length_error", "logic_error"},
    library_class{"out_of_range", "logic_error"},
    library_class{"runtime_error", "exception"},
    library_class{"range_error", "runtime_error"},
    library_class{"overflow_error", "runtime_error"},
    library_class{"underflow_error", "runtime_error"},
    library_class{"bad_alloc", "exception"},
    library_class{"bad_array_new_length", "bad_alloc"},
    library_class{"bad_cast", "exception"},
    library_class{"bad_typeid", "exception"},
    library_class{"bad_exception", "exception"},
    library_class{"bad_function_call", "exception"},
};
std::string mangled(std::string_view name) { return "St" + std::to_string(name.size()) + std::string(name); }
library_class const* library_class_called(std::string_view name) {
  auto const at =
      std::ranges::find_if(library_classes, [&](library_class const& c) { return c.name == name; });
  return at == library_classes.end() ? nullptr : &*at;
}
library_class const* library_class_of(std::string_view type_information) {
  auto const at = std::ranges::find_if(
      library_classes, [&](library_class const& c) { return "_ZTI" + mangled(c.name) == type_information; });
  return at == library_classes.end() ? nullptr : &*at;
}

// Whether a handler of one type catches exceptions of another one; none if that is not known. `thrown` is a name of type information, and
// `caught` its description; both have the forms of the Itanium C++ ABI.
std::optional<bool> catches(llvm::Module const& m, std::string const& thrown, std::string_view caught);

std::optional<bool> catches_base(llvm::Module const& m, llvm::Constant const* base, std::string_view caught) {
  auto const* const description = llvm::dyn_cast_or_null<llvm::GlobalVariable>(base);
  if (!description) return {};
  return catches(m, description->getName().str(), caught);
}
// A class with several bases: one base alone may have the type, at the start of the object.
std::optional<bool>
catches_one_base(llvm::Module const& m, llvm::ConstantStruct const& description, std::string_view caught) {
  constexpr std::int64_t is_virtual = 1, is_public = 2;
  unsigned found = 0;
  bool is_plain = true;
  for (unsigned k = 4; k + 1 < description.getNumOperands(); k += 2) {
    auto const is = catches_base(m, description.getOperand(k), caught);
    auto const* const flags = llvm::dyn_cast<llvm::ConstantInt>(description.getOperand(k + 1));
    if (!is || !flags) return {};
    if (!*is) continue;
    ++found;
    is_plain = is_plain && (flags->getSExtValue() & is_virtual) == 0 &&
               (flags->getSExtValue() & is_public) != 0 && flags->getSExtValue() >> 8 == 0;
  }
  if (found > 0 && (found > 1 || !is_plain)) return {};
  return found == 1;
}
std::optional<bool> catches(llvm::Module const& m, std::string const& thrown, std::string_view caught) {
  constexpr std::string_view prefix = "_ZTI";
  if (!thrown.starts_with(prefix) || thrown.starts_with("_ZTIP") || thrown == "_ZTIDn")
    return {}; // conversions of pointers
  if (thrown == caught) return true;
  if (library_class const* const known = library_class_of(thrown))
    return known->base.empty() ? false : catches(m, "_ZTI" + mangled(known->base), caught);
  llvm::GlobalVariable const* const g = m.getGlobalVariable(thrown, true);
  if (!g || !g->hasInitializer()) {
    bool const is_fundamental = thrown.size() == prefix.size() + 1;
    return is_fundamental ? std::optional(false) : std::nullopt;
  }
  auto const* const description = llvm::dyn_cast<llvm::ConstantStruct>(g->getInitializer());
  auto const* const kind =
      description
          ? llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(description->getOperand(0)))
          : nullptr;
  if (!kind) return {};
  std::string_view const name = kind->getName();
  if (name.find("__si_class_type_info") != name.npos)
    return catches_base(m, description->getOperand(2), caught);
  if (name.find("__vmi_class_type_info") != name.npos) return catches_one_base(m, *description, caught);
  return false;
}

// ---- what throws

llvm::StringRef name_of_callee(llvm::CallBase const& call) {
  llvm::Function const* const f = call.getCalledFunction();
  return f ? f->getName() : llvm::StringRef();
}
// Whether a function makes or destroys an exception of the standard library, whose text no lifted code reads.
bool is_of_library_exception(llvm::Function const& f) {
  if (!f.isDeclaration()) return false;
  std::string_view const name = f.getName();
  return std::ranges::any_of(library_classes, [&](library_class const& c) {
    std::string const prefix = "_ZN" + mangled(c.name);
    if (!name.starts_with(prefix)) return false;
    std::string_view const rest = name.substr(prefix.size());
    return rest.starts_with("C1E") || rest.starts_with("C2E") || rest.starts_with("D1E") ||
           rest.starts_with("D2E");
  });
}
// The type information of what a call throws, as by std::__throw_out_of_range; empty if it is no such call.
std::string thrown_by(llvm::CallBase const& call) {
  if (name_of_callee(call) == "__cxa_throw") return call.getArgOperand(1)->getName().str();
  std::string name = llvm::demangle(name_of_callee(call).str());
  constexpr std::string_view prefix = "std::__throw_";
  if (!name.starts_with(prefix)) return {};
  name = name.substr(prefix.size(), name.find('(') - prefix.size());
  if (name.ends_with("_fmt")) name.resize(name.size() - 4);
  return library_class_called(name) ? "_ZTI" + mangled(name) : std::string();
}
// Whether the destructor of an exception releases memory alone, so that it may be left out.
bool releases_alone(llvm::Value const* destructor, unsigned depth = 8) {
  auto const* const f = llvm::dyn_cast<llvm::Function>(destructor);
  if (!f || depth == 0) return llvm::isa<llvm::ConstantPointerNull>(destructor);
  if (f->isDeclaration()) return is_of_library_exception(*f);
  return llvm::all_of(llvm::instructions(*f), [&](llvm::Instruction const& i) {
    if (auto const* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
      auto const* const table =
          llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(store->getValueOperand()));
      return llvm::isa<llvm::AllocaInst>(store->getPointerOperand()) || (table && is_virtual_table(*table));
    }
    auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (!call) return !i.mayWriteToMemory();
    if (is_ignored(*call) || allocation_of(*call) == allocation::release) return true;
    return call->getCalledFunction() && releases_alone(call->getCalledFunction(), depth - 1);
  });
}

// Which functions may throw.
class throwing_functions {
public:
  explicit throwing_functions(llvm::Module& m) {
    std::vector<llvm::Function const*> pending;
    for (llvm::Function const& f : m)
      if (!f.isDeclaration() && !f.doesNotThrow() && throws_itself(f) && all_.insert(&f).second)
        pending.push_back(&f);
    for (std::size_t at = 0; at < pending.size(); ++at)
      for (llvm::User const* u : pending[at]->users())
        if (auto const* call = llvm::dyn_cast<llvm::CallBase>(u); call && !call->doesNotThrow() &&
                                                                  !call->getFunction()->doesNotThrow() &&
                                                                  all_.insert(call->getFunction()).second)
          pending.push_back(call->getFunction());
  }

  bool may_throw(llvm::CallBase const& call) const {
    llvm::Function const* const callee = call.getCalledFunction();
    if (call.doesNotThrow()) return false;
    if (!callee || callee->isDeclaration()) return throws(call);
    return all_.contains(callee);
  }

private:
  static bool throws(llvm::CallBase const& call) {
    if (call.doesNotThrow() || allocation_of(call) != allocation::none) return false;
    llvm::Function const* const callee = call.getCalledFunction();
    return !callee || (callee->isDeclaration() && !callee->isIntrinsic() &&
                       !is_of_library_exception(*callee) && callee->getName() != "__cxa_end_catch");
  }
  static bool throws_itself(llvm::Function const& f) {
    return llvm::any_of(llvm::instructions(f), [](llvm::Instruction const& i) {
      auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
      return call && throws(*call);
    });
  }

  llvm::DenseSet<llvm::Function const*> all_;
};

// ---- from exceptions to branches

// Replaces values of a landing pad, which handlers and clean-up pass on, by an address and a number.
void split_landing_values(llvm::Function& f) {
  std::vector<llvm::PHINode*> all;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* const phi = llvm::dyn_cast<llvm::PHINode>(&i); phi && phi->getType()->isStructTy())
      all.push_back(phi);
  for (llvm::PHINode* const phi : all) {
    llvm::IRBuilder<> at(&*phi->getParent()->getFirstInsertionPt());
    llvm::Value* joined = llvm::PoisonValue::get(phi->getType());
    for (unsigned k = 0; k < phi->getType()->getStructNumElements(); ++k) {
      auto* const part = llvm::PHINode::Create(
          phi->getType()->getStructElementType(k), phi->getNumIncomingValues(), "", phi);
      for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n) {
        llvm::IRBuilder<> end(phi->getIncomingBlock(n)->getTerminator());
        part->addIncoming(end.CreateExtractValue(phi->getIncomingValue(n), {k}), phi->getIncomingBlock(n));
      }
      joined = at.CreateInsertValue(joined, part, {k});
    }
    phi->replaceAllUsesWith(joined);
    phi->eraseFromParent();
  }
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f)))
    if (auto* const part = llvm::dyn_cast<llvm::ExtractValueInst>(&i))
      if (llvm::Value* const x = llvm::FindInsertedValue(part->getAggregateOperand(), part->getIndices())) {
        part->replaceAllUsesWith(x);
        part->eraseFromParent();
      }
}

class exception_resolver {
public:
  exception_resolver(
      llvm::Function& f, throwing_functions const& throwing, std::vector<llvm::Function*> const& order)
      : f_(f), m_(*f.getParent()), throwing_(throwing) {
    for (llvm::Function* const before : order) {
      if (before == &f) break;
      callees_.insert(before);
    }
  }

  void run() {
    if (!catching_invoke()) return;
    while (llvm::InvokeInst* const invoke = next_call())
      if (!inline_or_call(*invoke)) return;
    std::vector<thrown> all;
    for (llvm::InvokeInst* const invoke : invokes()) {
      auto const one = thrown_at(*invoke);
      if (!one) return;
      all.push_back(*one);
    }
    for (thrown const& one : all) branch(one);
    replace_landing_pads();
    replace_calls_of_runtime();
    split_landing_values(f_);
  }

private:
  static constexpr unsigned most_growth = 3000;

  struct thrown {
    llvm::InvokeInst* at;
    std::optional<std::string>
        caught; // the type of the handler; empty: all types; none: it leaves the function
  };

  std::vector<llvm::InvokeInst*> invokes() const {
    std::vector<llvm::InvokeInst*> all;
    for (llvm::BasicBlock& b : f_)
      if (auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(b.getTerminator())) all.push_back(invoke);
    return all;
  }
  bool catching_invoke() const {
    auto const returning = returning_blocks(f_);
    return llvm::any_of(
        invokes(), [&](llvm::InvokeInst* invoke) { return returning.contains(invoke->getUnwindDest()); });
  }
  // An invoke that does not throw itself. One without a handler that returns becomes a call: its exception is an error of the run.
  llvm::InvokeInst* next_call() const {
    auto const returning = returning_blocks(f_);
    llvm::InvokeInst* found = nullptr;
    for (llvm::InvokeInst* const invoke : invokes())
      if (!returning.contains(invoke->getUnwindDest()))
        llvm::changeToCall(invoke);
      else if (!found && thrown_by(*invoke).empty())
        found = invoke;
    return found;
  }
  // Whether it could be inlined, or does not throw.
  bool inline_or_call(llvm::InvokeInst& invoke) {
    if (!throwing_.may_throw(invoke)) {
      llvm::changeToCall(&invoke);
      return true;
    }
    llvm::Function* const callee = invoke.getCalledFunction();
    if (!callee || callee->isDeclaration() || callee->isInterposable() || !callees_.contains(callee))
      return false;
    growth_ += callee->getInstructionCount();
    if (growth_ > most_growth) return false;
    llvm::InlineFunctionInfo info;
    return llvm::InlineFunction(invoke, info).isSuccess();
  }

  // Which handler catches what an invoke throws; none if that is not known.
  std::optional<thrown> thrown_at(llvm::InvokeInst& invoke) const {
    thrown one{&invoke, {}};
    std::string const type = thrown_by(invoke);
    if (name_of_callee(invoke) == "__cxa_throw") {
      auto const* const made = llvm::dyn_cast<llvm::CallBase>(invoke.getArgOperand(0));
      if (!made || name_of_callee(*made) != "__cxa_allocate_exception" ||
          !llvm::isa<llvm::ConstantInt>(made->getArgOperand(0)) || !releases_alone(invoke.getArgOperand(2)))
        return {};
    }
    llvm::LandingPadInst const& pad = *invoke.getLandingPadInst();
    for (unsigned k = 0; k < pad.getNumClauses() && !one.caught; ++k) {
      if (!pad.isCatch(k)) return {};
      llvm::Constant const* const clause = pad.getClause(k);
      bool const is_any = llvm::isa<llvm::ConstantPointerNull>(clause);
      std::string const caught = is_any ? std::string() : clause->getName().str();
      auto const is = is_any ? std::optional(true) : catches(m_, type, caught);
      if (!is) return {};
      if (*is) one.caught = caught;
    }
    return one;
  }

  llvm::ConstantInt* number_of(std::string const& type) {
    auto const [at, _] = numbers_.try_emplace(type, static_cast<std::uint32_t>(numbers_.size() + 1));
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(f_.getContext()), at->second);
  }
  void branch(thrown const& one) {
    if (!one.caught) {
      llvm::changeToCall(one.at);
      return;
    }
    llvm::BasicBlock *const from = one.at->getParent(), *const pad = one.at->getUnwindDest();
    llvm::Value* object = llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(f_.getContext()));
    if (name_of_callee(*one.at) == "__cxa_throw") object = local_of(*one.at->getArgOperand(0));
    incoming_[pad].push_back({from, object, number_of(*one.caught)});
    one.at->getNormalDest()->removePredecessor(from);
    llvm::IRBuilder<>(one.at).CreateBr(pad);
    one.at->eraseFromParent();
  }
  // An exception exists from its throw to the end of its handler, so that one variable is enough for each place that throws.
  llvm::Value* local_of(llvm::Value& object) {
    if (llvm::isa<llvm::AllocaInst>(object)) return &object;
    auto& made = llvm::cast<llvm::CallBase>(object);
    auto const bytes = llvm::cast<llvm::ConstantInt>(made.getArgOperand(0))->getZExtValue();
    llvm::IRBuilder<> at(&*f_.getEntryBlock().getFirstInsertionPt());
    auto* const local = at.CreateAlloca(llvm::ArrayType::get(at.getInt8Ty(), bytes));
    local->setAlignment(llvm::Align(16));
    made.replaceAllUsesWith(local);
    made.eraseFromParent();
    return local;
  }
  void replace_landing_pads() {
    for (auto const& [block, all] : incoming_) {
      llvm::LandingPadInst* const pad = block->getLandingPadInst();
      auto* const object =
          llvm::PHINode::Create(pad->getType()->getStructElementType(0), 2, "", &block->front());
      auto* const type =
          llvm::PHINode::Create(pad->getType()->getStructElementType(1), 2, "", &block->front());
      for (edge const& e : all) {
        object->addIncoming(e.object, e.from);
        type->addIncoming(e.type, e.from);
      }
      llvm::IRBuilder<> at(pad);
      llvm::Value* const first = at.CreateInsertValue(llvm::PoisonValue::get(pad->getType()), object, {0});
      pad->replaceAllUsesWith(at.CreateInsertValue(first, type, {1}));
      pad->eraseFromParent();
    }
    llvm::removeUnreachableBlocks(f_);
  }
  void replace_calls_of_runtime() {
    std::vector<llvm::Instruction*> ends;
    for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f_))) {
      if (llvm::isa<llvm::ResumeInst>(i)) ends.push_back(&i);
      auto* const call = llvm::dyn_cast<llvm::CallInst>(&i);
      if (!call || !call->getCalledFunction()) continue;
      llvm::StringRef const name = name_of_callee(*call);
      if (call->getIntrinsicID() == llvm::Intrinsic::eh_typeid_for)
        call->replaceAllUsesWith(number_of(call->getArgOperand(0)->stripPointerCasts()->getName().str()));
      else if (name == "__cxa_begin_catch" || name == "__cxa_get_exception_ptr")
        call->replaceAllUsesWith(call->getArgOperand(0));
      else if (name != "__cxa_end_catch" && name != "__cxa_free_exception")
        continue;
      call->eraseFromParent();
    }
    for (llvm::Instruction* const end : ends) {
      llvm::IRBuilder<> at(end);
      llvm::CallInst* const leaves =
          at.CreateCall(m_.getOrInsertFunction("__cxa_rethrow", llvm::Type::getVoidTy(f_.getContext())));
      leaves->setDoesNotReturn();
      at.CreateUnreachable();
      end->eraseFromParent();
    }
  }

  struct edge {
    llvm::BasicBlock* from;
    llvm::Value* object;
    llvm::ConstantInt* type;
  };

  llvm::Function& f_;
  llvm::Module& m_;
  throwing_functions const& throwing_;
  llvm::DenseSet<llvm::Function const*> callees_; // functions that do not call this one
  std::map<std::string, std::uint32_t> numbers_;  // of types
  llvm::MapVector<llvm::BasicBlock*, std::vector<edge>> incoming_;
  unsigned growth_ = 0;
};

// The text of an exception of the standard library is not read: its construction and destruction are left out.
void erase_library_exceptions(llvm::Module& m) {
  for (llvm::Function& f : m) {
    if (!is_of_library_exception(f)) continue;
    for (llvm::User* const u : llvm::make_early_inc_range(f.users())) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(u);
      if (!call || call->getCalledFunction() != &f) continue;
      if (auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(call)) call = llvm::changeToCall(invoke);
      call->eraseFromParent();
    }
  }
}

} // namespace

void resolve_exceptions(llvm::Module& m) {
  erase_library_exceptions(m);
  throwing_functions const throwing(m);
  std::vector<llvm::Function*> all;
  for (llvm::Function& f : m)
    if (!f.isDeclaration()) all.push_back(&f);
  // Callers first: callees are inlined as they are.
  std::vector<llvm::Function*> const order = callees_first(all);
  for (llvm::Function* const f : llvm::reverse(order)) exception_resolver(*f, throwing, order).run();
}

} // namespace overdub::lifting
