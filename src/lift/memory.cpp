#include "memory.hpp"

#include "linear_memory.hpp"
#include "refusal.hpp"

#include <algorithm>
#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Metadata.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace overdub::lifting {
namespace {

bool is_pointer(llvm::Value const* v) { return v->getType()->isPointerTy(); }
bool is_null(llvm::Value const* v) { return llvm::isa<llvm::ConstantPointerNull>(v); }

bool allocates(llvm::CallBase const& call) {
  allocation const is = allocation_of(call);
  return is == allocation::allocate || is == allocation::allocate_zeros;
}
bool releases(llvm::Instruction const& i) {
  auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
  return call && allocation_of(*call) == allocation::release;
}
// Whether an operand may be a null pointer: a pointer into a heap object may be null, too.
bool may_have_null(llvm::Instruction const& i) {
  return llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::SelectInst>(i) || llvm::isa<llvm::ICmpInst>(i) ||
         releases(i);
}

// Whether a number of bytes is one of whole elements of some size.
bool is_whole(llvm::Value const* bytes, std::int64_t size, int depth = 4) {
  if (size == 1) return true;
  if (auto const* constant = llvm::dyn_cast<llvm::ConstantInt>(bytes))
    return constant->getBitWidth() <= 64 && constant->getSExtValue() % size == 0;
  if (factor_of(bytes).constant % size == 0) return true;
  auto const* const sum = llvm::dyn_cast<llvm::BinaryOperator>(bytes);
  if (!sum || depth == 0) return false;
  if (sum->getOpcode() == llvm::Instruction::Sub && llvm::isa<llvm::PtrToIntInst>(sum->getOperand(0)) &&
      llvm::isa<llvm::PtrToIntInst>(sum->getOperand(1)))
    return true; // pointers into one array
  bool const adds = sum->getOpcode() == llvm::Instruction::Sub || sum->getOpcode() == llvm::Instruction::Add;
  return adds && is_whole(sum->getOperand(0), size, depth - 1) &&
         is_whole(sum->getOperand(1), size, depth - 1);
}

// What a pointer is derived from: one value, or several. Nothing for the start of an array, and for what has no array.
std::vector<llvm::Value const*> sources_of(llvm::Value const* v) {
  if (auto const* gep = llvm::dyn_cast<llvm::GEPOperator>(v)) return {gep->getPointerOperand()};
  if (auto const* phi = llvm::dyn_cast<llvm::PHINode>(v))
    return std::vector<llvm::Value const*>(phi->op_begin(), phi->op_end());
  if (auto const* select = llvm::dyn_cast<llvm::SelectInst>(v))
    return {select->getTrueValue(), select->getFalseValue()};
  if (auto const* freeze = llvm::dyn_cast<llvm::FreezeInst>(v)) return {freeze->getOperand(0)};
  return {};
}

// The bytes of a constant without pointers.
bool append_bytes(
    llvm::Constant const& c, llvm::DataLayout const& layout, std::vector<std::uint8_t>& out,
    std::uint64_t at) {
  std::uint64_t const size = layout.getTypeAllocSize(c.getType());
  if (c.isNullValue() || llvm::isa<llvm::UndefValue>(c)) return !c.getType()->isPointerTy();
  auto const write = [&](llvm::APInt const& bits) {
    for (std::uint64_t i = 0; i < layout.getTypeStoreSize(c.getType()); ++i)
      out[at + i] = static_cast<std::uint8_t>(
          8 * i < bits.getBitWidth() ? bits.lshr(static_cast<unsigned>(8 * i)).getLoBits(8).getZExtValue()
                                     : 0);
  };
  if (auto const* integer = llvm::dyn_cast<llvm::ConstantInt>(&c)) return write(integer->getValue()), true;
  if (auto const* number = llvm::dyn_cast<llvm::ConstantFP>(&c))
    return write(number->getValueAPF().bitcastToAPInt()), true;
  if (auto const* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&c)) {
    llvm::StringRef const raw = data->getRawDataValues();
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(raw.size(), size); ++i)
      out[at + i] = static_cast<std::uint8_t>(raw[i]);
    return true;
  }
  if (auto const* all = llvm::dyn_cast<llvm::ConstantAggregate>(&c)) {
    llvm::StructLayout const* fields = nullptr;
    if (auto* type = llvm::dyn_cast<llvm::StructType>(c.getType())) fields = layout.getStructLayout(type);
    for (unsigned i = 0; i < all->getNumOperands(); ++i) {
      llvm::Constant const& part = *all->getOperand(i);
      std::uint64_t const offset = fields ? std::uint64_t(fields->getElementOffset(i))
                                          : i * std::uint64_t(layout.getTypeAllocSize(part.getType()));
      if (!append_bytes(part, layout, out, at + offset)) return false;
    }
    return true;
  }
  return false;
}

void add_distinct(std::vector<element_type>& all, element_type const& e) {
  if (std::ranges::find(all, e) == all.end()) all.push_back(e);
}

// The scalar of a field of a copy, by the name of its type in alias information and the bytes of the field. An array has the name of its
// elements. Characters may be those of any type.
element_type copied_scalar(std::string_view name, std::uint64_t bytes) {
  constexpr std::string_view of_declaration = "declared ";
  if (name.starts_with(of_declaration)) name.remove_prefix(of_declaration.size());
  if (name == "double") return {ir::f64, 64};
  if (name == "float") return {ir::f32, 32};
  for (auto const& [integer, bits] :
       {std::pair<std::string_view, std::uint32_t>("short", 16),
        {"int", 32},
        {"long", 64},
        {"long long", 64},
        {"i8", 8},
        {"i16", 16},
        {"i32", 32},
        {"i64", 64}})
    if (name == integer) return {ir::i64, bits};
  if (name == "omnipotent char" && bytes == 1) return {ir::i64, 8};
  return {};
}

class memory_analysis {
public:
  memory_analysis(llvm::Function const& f, parameter_uses const& uses, lift_options const& o, bool by_types)
      : f_(f), layout_(f.getParent()->getDataLayout()), uses_(uses), o_(o), by_types_(by_types) {}

  function_memory run() {
    for (llvm::Argument const& a : f_.args())
      if (a.getType()->isPointerTy()) {
        parameter_use const known = uses_.lookup(&a);
        add_object({object::kind::parameter, &a, known.element, 0, known.is_written, known.is_accessed, {}});
      }
    for (llvm::Instruction const& i : llvm::instructions(f_)) join(i);
    for (llvm::Instruction const& i : llvm::instructions(f_))
      for (llvm::Value const* v : i.operands())
        if (is_pointer(v) && !is_callee(i, v) && !(is_null(v) && may_have_null(i)) &&
            !(llvm::isa<llvm::PHINode>(i) && llvm::isa<llvm::UndefValue>(v)))
          find_object(v, i);
    for (llvm::Instruction const& i : llvm::instructions(f_))
      if (i.getType()->isPointerTy() && !is_abort(i)) find_object(&i, i);
    check_instances();
    find_elements();
    if (by_types_ && guess()) find_elements();
    for (object& o : all_.objects) {
      finish(o);
      o.starts_at_null = o.is == object::kind::heap && joins_null_once(*llvm::cast<llvm::CallBase>(o.base));
    }
    for (llvm::Instruction const& i : llvm::instructions(f_)) check(i);
    return std::move(all_);
  }

private:
  static bool is_abort(llvm::Instruction const& i) {
    auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
    return call && lifting::is_abort(*call);
  }
  static bool is_callee(llvm::Instruction const& i, llvm::Value const* v) {
    auto const* call = llvm::dyn_cast<llvm::CallBase>(&i);
    return call && (is_ignored(*call) || call->getCalledOperand() == v);
  }
  [[noreturn]] static void refuse_null(llvm::Instruction const* at) {
    refuse(
        at, "a null pointer", "a pointer is an index into an array, and a null pointer has none",
        "pass a length of 0 instead");
  }

  std::uint32_t add_object(object o) {
    classes_.insert(o.base);
    auto const number = static_cast<std::uint32_t>(all_.objects.size());
    object_of_base_[o.base] = number;
    all_.objects.push_back(std::move(o));
    return number;
  }

  // ---- which pointers point into the same array

  void join_sources(llvm::Value const* v) {
    classes_.insert(v);
    for (llvm::Value const* source : sources_of(v)) {
      if (llvm::isa<llvm::UndefValue>(source)) continue;
      if (is_null(source)) {
        auto const* const i = llvm::dyn_cast<llvm::Instruction>(v);
        if (!i || !may_have_null(*i)) refuse_null(i);
        continue;
      }
      classes_.unionSets(v, source);
      if (llvm::isa<llvm::ConstantExpr>(source)) join_sources(source);
    }
  }
  void join(llvm::Instruction const& i) {
    if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i); call && is_ignored(*call)) return;
    if (i.getType()->isPointerTy()) join_sources(&i);
    for (llvm::Value const* v : i.operands())
      if (is_pointer(v) && llvm::isa<llvm::Constant>(v) && !is_null(v) && !is_callee(i, v)) join_sources(v);
    if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i); call && allocates(*call))
      add_object({object::kind::heap, call, {}, 0, true, false, {}});
    if (auto const* local = llvm::dyn_cast<llvm::AllocaInst>(&i)) {
      auto const size = local->getAllocationSizeInBits(layout_);
      if (!local->isStaticAlloca() || !size || size->isScalable())
        refuse(
            &i, "a local array whose size is not constant",
            "its elements are not known before the program runs",
            "use an array of constant size, or pass the array as an argument");
      add_object({object::kind::local, local, {}, size->getFixedValue() / 8, true, false, {}});
    }
  }
  // The one array of a pointer, and of all pointers that it is joined with.
  void find_object(llvm::Value const* v, llvm::Instruction const& at) {
    if (all_.object_of.count(v)) return;
    std::optional<std::uint32_t> found;
    for (auto member = classes_.findLeader(v); member != classes_.member_end(); ++member) {
      llvm::Value const* const m = *member;
      if (auto const* global = llvm::dyn_cast<llvm::GlobalVariable>(m); global && !object_of_base_.count(m)) {
        if (!global->isConstant() || !global->hasDefinitiveInitializer())
          refuse(
              &at, "the global variable" + quoted_name(*global),
              "other functions may change it between calls", "pass it as an argument, or declare it const");
        add_object(
            {object::kind::table,
             global,
             {},
             layout_.getTypeAllocSize(global->getValueType()),
             false,
             false,
             {}});
      }
      if (auto const base = object_of_base_.find(m); base != object_of_base_.end()) {
        if (found && *found != base->second)
          refuse(
              &at, "a pointer that may point into two arrays",
              "an array is a value, and a pointer an index into one of them",
              "select the numbers instead of the pointers, or write the two cases as two calls");
        found = base->second;
      } else if (llvm::isa<llvm::LoadInst>(m) || llvm::isa<llvm::ExtractValueInst>(m))
        refuse(
            &source_of(m, at), "a pointer that is read from memory",
            "the array that it points into is not known", "pass the array as an argument of the function");
      else if (auto const* call = llvm::dyn_cast<llvm::CallBase>(m))
        refuse(
            call, "a pointer that a call returns", "the array that it points into is not known",
            "return an index, or write to an argument");
      else if (llvm::isa<llvm::IntToPtrInst>(m))
        refuse(
            &source_of(m, at), "a number that is converted to a pointer",
            "the array that it points into is not known", "index an array");
      else if (llvm::isa<llvm::Function>(m))
        refuse(&at, "a pointer to a function", "it is no array", "call the function by its name");
    }
    if (!found) refuse_null(&at);
    for (auto member = classes_.findLeader(v); member != classes_.member_end(); ++member)
      all_.object_of[*member] = *found;
  }
  // A call that allocates makes one array. If it runs again, in a loop, all pointers must be into the last one.
  void check_instances() {
    std::vector<llvm::CallBase const*> calls;
    for (object const& o : all_.objects)
      if (o.is == object::kind::heap) calls.push_back(llvm::cast<llvm::CallBase>(o.base));
    if (calls.empty()) return;
    llvm::DominatorTree const tree(const_cast<llvm::Function&>(f_));
    llvm::LoopInfo const loops(tree);
    llvm::ReversePostOrderTraversal<llvm::Function const*> const order(&f_);
    bool const has_other_cycles = llvm::containsIrreducibleCFG<llvm::BasicBlock const*>(order, loops);
    for (llvm::CallBase const* call : calls) {
      llvm::Loop const* const loop = loops.getLoopFor(call->getParent());
      if (!loop && !has_other_cycles) continue;
      for (auto member = classes_.findLeader(call); member != classes_.member_end(); ++member)
        if (auto const* phi = llvm::dyn_cast<llvm::PHINode>(*member))
          if (has_other_cycles || !loop->contains(phi) || phi->getParent() == loop->getHeader())
            refuse(
                call, "memory that is allocated in each iteration of a loop, and kept for the next one",
                "the array of a pointer is not known", "allocate it before the loop");
    }
  }
  // Whether all pointers of a class come from one phi of a null pointer and a call that allocates, as in a std::vector, and are compared
  // with a null pointer before releases alone. Then all are null, or none is.
  bool joins_null_once(llvm::CallBase const& call) const {
    if (!call.hasOneUser() || !llvm::isa<llvm::PHINode>(*call.user_begin())) return false;
    for (auto member = classes_.findLeader(&call); member != classes_.member_end(); ++member) {
      auto const* const i = llvm::dyn_cast<llvm::Instruction>(*member);
      bool const joins =
          i && std::any_of(i->op_begin(), i->op_end(), [](auto const& v) { return is_null(v); });
      if (!i || (joins && i != *call.user_begin())) return false;
      for (llvm::User const* u : i->users())
        if (auto const* compare = llvm::dyn_cast<llvm::ICmpInst>(u))
          if ((is_null(compare->getOperand(0)) || is_null(compare->getOperand(1))) &&
              !guards_release(*compare))
            return false;
    }
    return true;
  }
  static bool guards_release(llvm::ICmpInst const& compare) {
    auto const* const branch =
        compare.hasOneUser() ? llvm::dyn_cast<llvm::BranchInst>(*compare.user_begin()) : nullptr;
    if (!branch || !compare.isEquality()) return false;
    unsigned const side = compare.getPredicate() == llvm::CmpInst::ICMP_NE ? 0 : 1;
    llvm::BasicBlock const &released = *branch->getSuccessor(side),
                           &otherwise = *branch->getSuccessor(1 - side);
    llvm::BasicBlock const* const next = released.getSingleSuccessor();
    bool const meets =
        &otherwise == next || (otherwise.getSingleSuccessor() == next && otherwise.size() == 1);
    return next && meets && next->phis().empty() &&
           std::all_of(released.begin(), released.end(), [](llvm::Instruction const& i) {
             return releases(i) || !i.mayHaveSideEffects();
           });
  }
  static llvm::Instruction const& source_of(llvm::Value const* v, llvm::Instruction const& otherwise) {
    auto const* i = llvm::dyn_cast<llvm::Instruction>(v);
    return i ? *i : otherwise;
  }

  // ---- what is accessed

  // An element type may reach an array by a copy from another one.
  void find_elements() {
    bool changes = true;
    while (changes) {
      changes = false;
      for (llvm::Instruction const& i : llvm::instructions(f_)) changes = access(i) || changes;
    }
  }
  // Finds elements of arrays that are copied alone, by types in the function. Returns whether there are some.
  bool guess() {
    bool found = false;
    auto const try_types = [&](llvm::Value const* pointer, std::vector<element_type> const& types) {
      auto const at = all_.object_of.find(pointer);
      if (at == all_.object_of.end() || types.size() != 1 || !types[0].is_known()) return;
      if (types[0].bits == 8) return; // characters may be those of any type
      object& o = all_.objects[at->second];
      if (!o.is_accessed || o.element.is_known()) return;
      o.element = types[0];
      found = true;
    };
    for (object const& o : all_.objects)
      if (auto const* local = llvm::dyn_cast_or_null<llvm::AllocaInst>(o.base))
        try_types(local, elements_in(*local->getAllocatedType()));
      else if (auto const* table = llvm::dyn_cast_or_null<llvm::GlobalVariable>(o.base))
        try_types(table, elements_in(*table->getValueType()));
    for (llvm::Instruction const& i : llvm::instructions(f_)) {
      if (auto const* copy = llvm::dyn_cast<llvm::MemTransferInst>(&i)) {
        try_types(copy->getRawDest(), elements_in(*copy));
        try_types(copy->getRawSource(), elements_in(*copy));
      }
      if (auto const* gep = llvm::dyn_cast<llvm::GEPOperator>(&i)) try_types(gep, elements_in(*gep));
    }
    return found;
  }
  static bool touch(object& o) { return !std::exchange(o.is_accessed, true); }
  bool unify(object& o, element_type const& e, llvm::Instruction const& at) {
    if (!e.is_known() || o.element == e) return false;
    if (o.element.is_known())
      refuse(
          &at, "an array that is accessed as " + text(o.element) + " and as " + text(e),
          "an array has one type of elements",
          "use one type, or two arrays; structs of different fields are not lifted yet");
    o.element = e;
    return true;
  }
  static std::string text(element_type const& e) {
    if (e.type == ir::f64) return "double";
    if (e.type == ir::f32) return "float";
    return "integers of " + std::to_string(e.bits) + " bits";
  }
  bool write(object& o, llvm::Instruction const& at) {
    if (o.is_written) return false;
    if (o.is == object::kind::table)
      refuse(&at, "a write to a constant", "its behaviour is undefined", "write to a copy");
    return o.is_written = true;
  }
  element_type element_of(llvm::Type* type, llvm::Instruction const& at) const {
    if (type->isDoubleTy()) return {ir::f64, 64};
    if (type->isFloatTy()) return {ir::f32, 32};
    if (auto const* integer = llvm::dyn_cast<llvm::IntegerType>(type))
      if (unsigned const bits = integer->getBitWidth(); bits == 8 || bits == 16 || bits == 32 || bits == 64)
        return {ir::i64, bits};
    if (type->isPointerTy())
      refuse(
          &at, "a pointer in memory", "arrays of pointers are not lifted",
          "use one array, with computed indices");
    refuse(
        &at, "a number in memory that is neither double, float nor an integer of 8, 16, 32 or 64 bits",
        "there are no arrays of it", "use one of these types");
  }
  bool access(llvm::Instruction const& i) {
    if (auto const* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
      if (!load->isSimple())
        refuse(
            &i, "a volatile or atomic access", "other threads or devices may change the memory",
            "use plain variables");
      object& o = at(load->getPointerOperand());
      return unify(o, element_of(load->getType(), i), i) || touch(o);
    }
    if (auto const* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
      if (!store->isSimple())
        refuse(
            &i, "a volatile or atomic access", "other threads or devices may change the memory",
            "use plain variables");
      object& o = at(store->getPointerOperand());
      bool const changed = unify(o, element_of(store->getValueOperand()->getType(), i), i) || touch(o);
      return write(o, i) || changed;
    }
    if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i)) return access(*call);
    return false;
  }
  bool access(llvm::CallBase const& call) {
    if (is_ignored(call) || allocation_of(call) != allocation::none) return false;
    if (auto const* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call)) {
      object &to = at(copy->getRawDest()), &from = at(copy->getRawSource());
      bool changed = write(to, call);
      for (object* o : {&to, &from}) changed = touch(*o) || changed;
      changed = unify(to, from.element, call) || changed;
      return unify(from, to.element, call) || changed;
    }
    if (auto const* fill = llvm::dyn_cast<llvm::MemSetInst>(&call)) {
      object& o = at(fill->getRawDest());
      return write(o, call) || touch(o);
    }
    llvm::Function const* const callee = call.getCalledFunction();
    if (!callee) return false;
    bool changed = false;
    for (unsigned i = 0; i < call.arg_size() && i < callee->arg_size(); ++i) {
      if (!is_pointer(call.getArgOperand(i))) continue;
      llvm::Argument const* const parameter = callee->getArg(i);
      parameter_use const use = uses_.lookup(parameter);
      object& o = at(call.getArgOperand(i));
      changed = unify(o, use.element, call) || changed;
      if (use.is_accessed) changed = touch(o) || changed;
      if (writes_argument(call, i, uses_)) changed = write(o, call) || changed;
    }
    return changed;
  }
  object& at(llvm::Value const* pointer) { return all_.objects[all_.object_at(pointer)]; }

  // ---- sizes, and what is left to check

  void finish(object& o) {
    auto const* const instruction = llvm::dyn_cast<llvm::Instruction>(o.base);
    if (o.is == object::kind::parameter || o.is == object::kind::heap) return;
    if (o.count() > o_.elements)
      throw refusal{
          "an array of " + std::to_string(o.count()) + " elements",
          "the limit is " + std::to_string(o_.elements),
          "pass the array as an argument, or raise lift_options::elements", instruction};
    if (o.is != object::kind::table) return;
    auto const* const global = llvm::cast<llvm::GlobalVariable>(o.base);
    std::vector<std::uint8_t> bytes(o.bytes + 8);
    if (!append_bytes(*global->getInitializer(), layout_, bytes, 0))
      throw refusal{
          "the constant" + quoted_name(*global), "it has elements that are not numbers",
          "use a table of numbers", nullptr};
    for (std::uint64_t i = 0; i < o.count(); ++i) {
      std::uint64_t bits = 0;
      for (std::uint64_t k = o.element.bytes(); k-- > 0;) bits = bits << 8 | bytes[i * o.element.bytes() + k];
      if (o.element.type == ir::i64 && o.element.bits < 64) {
        std::uint64_t const sign = std::uint64_t{1} << (o.element.bits - 1);
        bits = (bits ^ sign) - sign;
      }
      o.values.push_back(bits);
    }
  }
  void check_gep(llvm::Value const* v, llvm::Instruction const& at) const {
    auto const* const gep = llvm::dyn_cast<llvm::GEPOperator>(v);
    if (!gep) return;
    if (llvm::isa<llvm::Constant>(gep->getPointerOperand())) check_gep(gep->getPointerOperand(), at);
    std::uint64_t const size = all_.objects[all_.object_at(gep)].element.bytes();
    llvm::MapVector<llvm::Value*, llvm::APInt> terms;
    llvm::APInt constant(64, 0);
    bool divides = gep->collectOffset(layout_, 64, terms, constant) &&
                   constant.getSExtValue() % static_cast<std::int64_t>(size) == 0;
    for (auto const& [index, scale] : terms)
      divides = divides && scale.getSExtValue() % static_cast<std::int64_t>(size) == 0;
    if (!divides)
      refuse(
          &at, "a pointer between the elements of an array", "an array has one type of elements",
          "use one type; structs of different fields are not lifted yet");
  }
  void check(llvm::Instruction const& i) const {
    if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i); call && is_ignored(*call)) return;
    for (llvm::Value const* v : i.operands())
      if (is_pointer(v) && llvm::isa<llvm::Constant>(v) && !is_null(v) && !is_callee(i, v)) check_gep(v, i);
    check_gep(&i, i);
    if (auto const* compare = llvm::dyn_cast<llvm::ICmpInst>(&i);
        compare && is_pointer(compare->getOperand(0)))
      check_comparison(*compare);
    if (auto const* address = llvm::dyn_cast<llvm::PtrToIntInst>(&i))
      for (llvm::User const* u : address->users()) {
        auto const* const difference = llvm::dyn_cast<llvm::BinaryOperator>(u);
        bool subtracts = difference && difference->getOpcode() == llvm::Instruction::Sub;
        for (unsigned k = 0; subtracts && k < 2; ++k) {
          auto const* const side = llvm::dyn_cast<llvm::PtrToIntInst>(difference->getOperand(k));
          subtracts = side && all_.object_at(side->getOperand(0)) == all_.object_at(address->getOperand(0));
        }
        if (!subtracts)
          refuse(&i, "the address of an array as a number", "arrays have no addresses", "use indices");
      }
    if (auto const* store = llvm::dyn_cast<llvm::StoreInst>(&i);
        store && is_pointer(store->getValueOperand()))
      refuse(
          &i, "a pointer in memory", "arrays of pointers are not lifted",
          "use one array, with computed indices");
    if (auto const* copy = llvm::dyn_cast<llvm::MemTransferInst>(&i))
      check_length(*copy, at_const(copy->getRawDest()));
    if (auto const* fill = llvm::dyn_cast<llvm::MemSetInst>(&i)) {
      check_length(*fill, at_const(fill->getRawDest()));
      auto const* const byte = llvm::dyn_cast<llvm::ConstantInt>(fill->getValue());
      if (!byte || !byte->isZero())
        refuse(
            &i, "memset with a value other than 0", "its elements are not numbers",
            "assign the elements in a loop");
    }
    if (releases(i)) return is_null(i.getOperand(0)) ? void() : check_heap(i.getOperand(0), i);
    if (llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::SelectInst>(i))
      if (std::any_of(i.op_begin(), i.op_end(), [](llvm::Value const* v) { return is_null(v); }))
        check_heap(&i, i);
    if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i)) check_arguments(*call);
  }
  void check_comparison(llvm::ICmpInst const& i) const {
    llvm::Value const *const a = i.getOperand(0), *const b = i.getOperand(1);
    if (is_null(a) || is_null(b)) {
      if (!i.isEquality()) refuse_null(&i);
      return check_heap(is_null(a) ? b : a, i);
    }
    if (all_.object_at(a) != all_.object_at(b))
      refuse(
          &i, "a comparison of pointers into two arrays", "arrays have no addresses",
          "compare indices into one array");
  }
  void check_heap(llvm::Value const* pointer, llvm::Instruction const& at) const {
    if (is_null(pointer) || at_const(pointer).is != object::kind::heap) refuse_null(&at);
  }
  void check_length(llvm::MemIntrinsic const& i, object const& o) const {
    if (!is_whole(i.getLength(), static_cast<std::int64_t>(o.element.bytes())) || i.isVolatile())
      refuse(
          &i, "a copy of memory whose length is no number of elements",
          "it is lifted for whole elements alone", "copy the elements in a loop");
  }
  object const& at_const(llvm::Value const* pointer) const { return all_.objects[all_.object_at(pointer)]; }
  // An array that a callee writes must not be another argument of it.
  void check_arguments(llvm::CallBase const& call) const {
    llvm::Function const* const callee = call.getCalledFunction();
    if (!callee || callee->isIntrinsic()) return;
    llvm::DenseMap<std::uint32_t, bool> seen;
    for (unsigned i = 0; i < call.arg_size() && i < callee->arg_size(); ++i) {
      if (!is_pointer(call.getArgOperand(i))) continue;
      bool const writes = uses_.lookup(callee->getArg(i)).is_written;
      auto const [at, is_first] = seen.try_emplace(all_.object_at(call.getArgOperand(i)), writes);
      if (!is_first && (at->second || writes))
        refuse(
            &call, "a call with one array as two arguments, of which it writes one",
            "each argument is a value of its own", "pass the array once, with two indices");
      at->second = at->second || writes;
    }
  }

  llvm::Function const& f_;
  llvm::DataLayout const& layout_;
  parameter_uses const& uses_;
  lift_options const& o_;
  bool by_types_;
  function_memory all_;
  llvm::EquivalenceClasses<llvm::Value const*> classes_;
  llvm::DenseMap<llvm::Value const*, std::uint32_t> object_of_base_;
};

} // namespace

constant_factor factor_of(llvm::Value const* number) {
  auto const* const product = llvm::dyn_cast<llvm::BinaryOperator>(number);
  if (!product || product->getType()->getIntegerBitWidth() > 64) return {};
  for (unsigned const side : {0u, 1u}) {
    auto const* const constant = llvm::dyn_cast<llvm::ConstantInt>(product->getOperand(side));
    if (!constant) continue;
    if (product->getOpcode() == llvm::Instruction::Mul)
      return {product->getOperand(1 - side), constant->getSExtValue()};
    if (side == 1 && product->getOpcode() == llvm::Instruction::Shl && constant->getZExtValue() < 62)
      return {product->getOperand(0), std::int64_t{1} << constant->getZExtValue()};
  }
  return {};
}

std::uint32_t function_memory::object_at(llvm::Value const* pointer) const {
  return object_of.find(pointer)->second;
}

pointer_offset
offset_of(llvm::GEPOperator const& gep, element_type const& element, llvm::DataLayout const& layout) {
  llvm::MapVector<llvm::Value*, llvm::APInt> terms;
  llvm::APInt constant(64, 0);
  (void)gep.collectOffset(layout, 64, terms, constant);
  auto const size = static_cast<std::int64_t>(element.bytes());
  pointer_offset result{gep.getPointerOperand(), constant.getSExtValue() / size, {}};
  for (auto const& [index, scale] : terms) result.terms.push_back({index, scale.getSExtValue() / size});
  return result;
}

bool is_ignored(llvm::CallBase const& call) {
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::lifetime_start:
  case llvm::Intrinsic::lifetime_end:
  case llvm::Intrinsic::assume:
  case llvm::Intrinsic::dbg_declare:
  case llvm::Intrinsic::dbg_label:
  case llvm::Intrinsic::dbg_value:
  case llvm::Intrinsic::donothing:
  case llvm::Intrinsic::experimental_noalias_scope_decl:
  case llvm::Intrinsic::invariant_start:
  case llvm::Intrinsic::invariant_end:
  case llvm::Intrinsic::stacksave:
  case llvm::Intrinsic::stackrestore:
    return true;
  default:
    return llvm::isa<llvm::DbgInfoIntrinsic>(call) || is_abort(call);
  }
}

std::vector<element_type> elements_in(llvm::Type const& t) {
  std::vector<element_type> all;
  std::vector<llvm::Type const*> pending{&t};
  while (!pending.empty()) {
    llvm::Type const* const part = pending.back();
    pending.pop_back();
    if (auto const* structure = llvm::dyn_cast<llvm::StructType>(part))
      pending.insert(pending.end(), structure->element_begin(), structure->element_end());
    else if (auto const* array = llvm::dyn_cast<llvm::ArrayType>(part))
      pending.push_back(array->getElementType());
    else
      add_distinct(all, part->isPointerTy() ? element_type{} : cell_type(part).value_or(element_type{}));
  }
  return all;
}
std::vector<element_type> elements_in(llvm::GEPOperator const& gep) {
  // A constant number of bytes is the offset of a field.
  if (gep.getSourceElementType()->isIntegerTy(8) && gep.hasAllConstantIndices()) return {};
  return elements_in(*gep.getSourceElementType());
}
std::vector<element_type> elements_in(llvm::MemTransferInst const& copy) {
  std::vector<element_type> all;
  auto const* const fields = copy.getMetadata(llvm::LLVMContext::MD_tbaa_struct);
  for (unsigned k = 0; fields && k + 2 < fields->getNumOperands(); k += 3) {
    auto const* const bytes = llvm::mdconst::dyn_extract<llvm::ConstantInt>(fields->getOperand(k + 1));
    auto const* const tag = llvm::dyn_cast_or_null<llvm::MDNode>(fields->getOperand(k + 2).get());
    add_distinct(all, copied_scalar(accessed_type(tag), bytes ? bytes->getZExtValue() : 0));
  }
  return all;
}

function_memory
analyse_memory(llvm::Function const& f, parameter_uses const& uses, lift_options const& o, bool by_types) {
  return memory_analysis(f, uses, o, by_types).run();
}

void check_elements(llvm::Function const& f, function_memory const& memory, parameter_uses const& uses) {
  for (llvm::Instruction const& i : llvm::instructions(f)) {
    auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (!call || is_ignored(*call) || !call->getCalledFunction()) continue;
    for (unsigned k = 0; k < call->arg_size(); ++k) {
      if (!is_pointer(call->getArgOperand(k))) continue;
      object const& o = memory.objects[memory.object_at(call->getArgOperand(k))];
      bool const accesses = llvm::isa<llvm::MemIntrinsic>(call) ||
                            (k < call->getCalledFunction()->arg_size() &&
                             uses.lookup(call->getCalledFunction()->getArg(k)).is_accessed);
      if (accesses && !o.element.is_known())
        throw refusal{
            "a copy of an array that is accessed in no other way", "the type of its elements is not known",
            "copy the elements in a loop", &i};
    }
  }
}

std::vector<llvm::Function const*>
pass_elements(llvm::Function const& f, function_memory const& memory, parameter_uses& uses) {
  std::vector<llvm::Function const*> changed;
  for (llvm::Instruction const& i : llvm::instructions(f)) {
    auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
    llvm::Function const* const callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || callee->isDeclaration()) continue;
    for (llvm::Argument const& a : callee->args()) {
      auto const use = uses.find(&a);
      if (use == uses.end() || !use->second.is_accessed || use->second.element.is_known()) continue;
      element_type const& known = memory.objects[memory.object_at(call->getArgOperand(a.getArgNo()))].element;
      if (!known.is_known()) continue;
      use->second.element = known;
      changed.push_back(callee);
    }
  }
  return changed;
}

bool update_uses(function_memory const& memory, parameter_uses& uses) {
  bool changed = false;
  for (object const& o : memory.objects) {
    if (o.is != object::kind::parameter) continue;
    parameter_use& use = uses[llvm::cast<llvm::Argument>(o.base)];
    parameter_use const now{o.element, o.is_written, o.is_accessed};
    changed = changed || !(use == now);
    use = now;
  }
  return changed;
}

bool writes_argument(llvm::CallBase const& call, unsigned i, parameter_uses const& uses) {
  if (llvm::isa<llvm::MemIntrinsic>(call)) return i == 0;
  llvm::Function const* const callee = call.getCalledFunction();
  if (!callee || i >= callee->arg_size()) return false;
  return uses.lookup(callee->getArg(i)).is_written && !callee->getArg(i)->hasByValAttr();
}

accessed_objects
objects_of(llvm::Instruction const& i, function_memory const& memory, parameter_uses const& parameters) {
  accessed_objects all;
  auto const change = [&](std::uint32_t object) {
    all.reads.push_back(object);
    all.writes.push_back(object);
  };
  if (llvm::Value const* const pointer = llvm::getLoadStorePointerOperand(&i)) {
    std::vector<std::uint32_t> const objects =
        memory.is_linear ? arrays_of(i, memory) : std::vector{memory.object_at(pointer)};
    for (std::uint32_t const o : objects) llvm::isa<llvm::LoadInst>(i) ? all.reads.push_back(o) : change(o);
    return all;
  }
  auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
  if (!call) return all;
  if (!memory.is_linear && allocation_of(*call) != allocation::none) {
    if (allocates(*call)) all.writes.push_back(memory.object_at(call));
    return all;
  }
  if (memory.is_linear) {
    memory_effect const effect = memory.call_effect.lookup(call);
    for (std::uint32_t k = 0; k < memory.objects.size() && effect != memory_effect::none; ++k)
      effect == memory_effect::reads ? all.reads.push_back(k) : change(k);
    return all;
  }
  for (llvm::Value const* argument : call->args())
    if (argument->getType()->isPointerTy()) all.reads.push_back(memory.object_at(argument));
  for (unsigned k = 0; k < call->arg_size(); ++k)
    if (call->getArgOperand(k)->getType()->isPointerTy() && writes_argument(*call, k, parameters))
      all.writes.push_back(memory.object_at(call->getArgOperand(k)));
  return all;
}

bool is_returned(object const& o) {
  if (o.is == object::kind::memory) return o.is_written;
  return o.is == object::kind::parameter && o.is_written &&
         !llvm::cast<llvm::Argument>(o.base)->hasByValAttr();
}

} // namespace overdub::lifting
