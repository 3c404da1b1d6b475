#include "linear_memory.hpp"

#include "indirect_calls.hpp"
#include "refusal.hpp"
#include "values.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <llvm/ADT/MapVector.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <string>
#include <string_view>

namespace overdub::lifting {
namespace {

constexpr element_type word{ir::i64, 64};

// Adds the constants that a function uses to a layout.
class constant_placer {
public:
  constant_placer(linear_layout& layout, llvm::DataLayout const& data, lift_options const& o)
      : layout_(layout), data_(data), o_(o) {}

  void place(llvm::GlobalVariable const& g, llvm::Instruction const& at) {
    if (layout_.address.count(&g) > 0) return;
    if (is_type_information(g)) return place_type_information(g);
    std::string const name = quoted_name(g);
    if (g.isConstant() && g.isDeclaration())
      throw refusal{
          "the constant" + name, "the module does not have its value",
          "compile its source into the same module", &at};
    if (!g.isConstant() || !g.hasDefinitiveInitializer())
      throw refusal{
          "the global variable" + name, "other functions may change it between calls",
          "pass it as an argument, or declare it const", &at};
    std::uint64_t const size = data_.getTypeAllocSize(g.getValueType());
    if (size > most_bytes() || layout_.end + size > most_bytes())
      throw refusal{
          "the constant" + name,
          "the constants of the module have more bytes than 8 times lift_options::elements",
          "pass it as an argument, or raise the limit", &at};
    std::uint64_t const address = layout_.end;
    layout_.address[&g] = address;
    layout_.end = (address + size + block_alignment) / block_alignment * block_alignment;
    add(*g.getInitializer(), address, at, is_virtual_table(g));
  }
  // The constants of an operand.
  void place_all(llvm::Constant const& c, llvm::Instruction const& at) {
    if (auto const* global = llvm::dyn_cast<llvm::GlobalVariable>(&c)) return place(*global, at);
    if (llvm::isa<llvm::Function>(c)) return; // place_functions
    auto const* const expression = llvm::dyn_cast<llvm::ConstantExpr>(&c);
    if (!expression) {
      if (llvm::isa<llvm::GlobalValue>(c) || llvm::isa<llvm::BlockAddress>(c))
        throw refusal{
            "an address that is not of a variable", "it has no counterpart", "use pointers to variables",
            &at};
      return;
    }
    if (!llvm::isa<llvm::GEPOperator>(expression))
      throw refusal{
          "a constant that depends on an address", "addresses are those of linear memory", "use pointers",
          &at};
    for (llvm::Value const* operand : expression->operands())
      place_all(*llvm::cast<llvm::Constant>(operand), at);
  }

private:
  // Virtual tables point to descriptions of types. Of one, the name alone can be compared: here it is the description's own address.
  void place_type_information(llvm::GlobalVariable const& g) {
    layout_.address[&g] = layout_.end;
    set(word, layout_.end + word.bytes(), layout_.end);
    layout_.end += block_alignment;
  }
  static bool is_type_information(llvm::GlobalVariable const& g) {
    return std::string_view(g.getName()).starts_with("_ZTI");
  }
  // Virtual tables also have distances between the parts of an object, which are numbers.
  static std::optional<std::int64_t> number_as_pointer(llvm::Constant const& c) {
    auto const* const cast = llvm::dyn_cast<llvm::ConstantExpr>(&c);
    auto const* const number = cast && cast->getOpcode() == llvm::Instruction::IntToPtr
                                   ? llvm::dyn_cast<llvm::ConstantInt>(cast->getOperand(0))
                                   : nullptr;
    if (!number) return {};
    return number->getSExtValue();
  }
  std::uint64_t most_bytes() const { return 8 * std::uint64_t{o_.elements}; }
  void set(element_type const& cell, std::uint64_t address, std::uint64_t bits) {
    if (cell.type != ir::i64) set({ir::i64, cell.bits}, address, floating_mark);
    auto const array = layout_.array_of(cell);
    std::size_t const k = array ? *array : layout_.cells.size();
    if (!array) {
      layout_.cells.push_back(cell);
      layout_.values.emplace_back();
    }
    layout_.values[k][address / cell.bytes()] = bits;
  }
  void add(llvm::Constant const& c, std::uint64_t address, llvm::Instruction const& at, bool is_table) {
    if (llvm::isa<llvm::UndefValue>(c)) return;
    if (auto const cell = cell_type(c.getType())) {
      if (address % cell->bytes() != 0)
        throw refusal{
            "a constant that is not aligned", "cells of memory are aligned", "do not pack structs", &at};
      if (c.getType()->isPointerTy()) {
        if (auto const distance = is_table ? number_as_pointer(c) : std::nullopt)
          return set(*cell, address, static_cast<std::uint64_t>(*distance));
        place_all(c, at);
        return set(*cell, address, static_cast<std::uint64_t>(*address_of(c, layout_, data_)));
      }
      if (auto const* integer = llvm::dyn_cast<llvm::ConstantInt>(&c))
        return set(*cell, address, static_cast<std::uint64_t>(integer->getSExtValue()));
      if (auto const* number = llvm::dyn_cast<llvm::ConstantFP>(&c))
        return set(*cell, address, number->getValueAPF().bitcastToAPInt().getZExtValue());
    } else if (auto* const structure = llvm::dyn_cast<llvm::StructType>(c.getType())) {
      llvm::StructLayout const& fields = *data_.getStructLayout(structure);
      for (unsigned i = 0; i < structure->getNumElements(); ++i)
        add(*c.getAggregateElement(i), address + std::uint64_t(fields.getElementOffset(i)), at, is_table);
      return;
    } else if (auto const* const array = llvm::dyn_cast<llvm::ArrayType>(c.getType())) {
      std::uint64_t const size = data_.getTypeAllocSize(array->getElementType());
      for (unsigned i = 0; size > 0 && i < array->getNumElements(); ++i)
        add(*c.getAggregateElement(i), address + i * size, at, is_table);
      return;
    }
    throw refusal{
        "a constant that is neither a number nor a pointer", "memory has no cells of it", "use numbers", &at};
  }

  linear_layout& layout_;
  llvm::DataLayout const& data_;
  lift_options const& o_;
};

class linear_check {
public:
  linear_check(llvm::Function const& f, linear_layout& layout, lift_options const& o)
      : f_(f), layout_(layout), data_(f.getParent()->getDataLayout()), o_(o), place_(layout, data_, o) {}

  void run() {
    need(word);
    for (llvm::Instruction const& i : llvm::instructions(f_)) check(i);
  }

private:
  void need(element_type const& cell) {
    if (layout_.array_of(cell)) return;
    layout_.cells.push_back(cell);
    layout_.values.emplace_back();
  }

  void need(std::vector<element_type> const& cells) {
    for (element_type const& cell : cells) {
      if (!cell.is_known() || cell.bits == 8) continue; // bytes may be padding
      need(cell);
      need({ir::i64, cell.bits});
    }
  }

  void check(llvm::Instruction const& i) {
    auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (call && (is_ignored(*call) || is_abort(*call))) return;
    bool const allocates = call && allocation_of(*call) != allocation::none;
    for (llvm::Value const* v : i.operands()) // std::nothrow is an operand of an allocation, too
      if (auto const* c = llvm::dyn_cast<llvm::Constant>(v);
          c && !(call && call->getCalledOperand() == v) && !(allocates && llvm::isa<llvm::GlobalVariable>(c)))
        place_.place_all(*c, i);
    if (auto const* load = llvm::dyn_cast<llvm::LoadInst>(&i))
      return check_access(i, *load->getType(), load->getAlign().value(), load->isSimple());
    if (auto const* store = llvm::dyn_cast<llvm::StoreInst>(&i))
      return check_access(
          i, *store->getValueOperand()->getType(), store->getAlign().value(), store->isSimple());
    if (auto const* local = llvm::dyn_cast<llvm::AllocaInst>(&i)) {
      auto const size = local->getAllocationSizeInBits(data_);
      if (!local->isStaticAlloca() || !size || size->isScalable())
        refuse(
            &i, "a local array whose size is not constant",
            "its elements are not known before the program runs",
            "use std::vector, or an array of constant size");
      std::uint64_t const most = 64 * std::uint64_t{o_.elements};
      if (size->getFixedValue() > most)
        refuse(
            &i, "a local variable of " + std::to_string(size->getFixedValue() / 8) + " bytes",
            "the limit is 8 times lift_options::elements", "use std::vector, or raise the limit");
    }
    // What is copied alone has cells, too.
    if (auto const* gep = llvm::dyn_cast<llvm::GEPOperator>(&i)) need(elements_in(*gep));
    if (auto const* copy = llvm::dyn_cast<llvm::MemTransferInst>(&i)) need(elements_in(*copy));
    if (llvm::isa<llvm::IntToPtrInst>(i) && !is_address(*i.getOperand(0)))
      refuse(
          &i, "a number that is converted to a pointer", "addresses are those of linear memory",
          "index an array");
    if (llvm::isa<llvm::PtrToIntInst>(i)) check_address(i);
    if (auto const* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&i)) check_copy(*copy);
  }
  void check_access(llvm::Instruction const& i, llvm::Type const& type, std::uint64_t align, bool is_simple) {
    if (!is_simple)
      refuse(
          &i, "a volatile or atomic access", "other threads or devices may change the memory",
          "use plain variables");
    auto const cell = cell_type(&type);
    if (!cell)
      refuse(
          &i,
          "a number in memory that is neither double, float, a pointer, nor an integer of 8, 16, 32 or 64 "
          "bits",
          "memory has no cells of it", "use one of these types");
    need(*cell);
    need({ir::i64, cell->bits});
    if (align < cell->bytes())
      refuse(&i, "an access that is not aligned", "cells of memory are aligned", "do not pack structs");
    if (type.isPointerTy() && is_of_any_type(i) && !stores_null(i))
      refuse(
          &i, "a pointer in a union", "another member could be its address as a number",
          "use a struct, or separate variables");
    std::string_view const name = accessed_type(i.getMetadata(llvm::LLVMContext::MD_tbaa));
    if (name.empty() &&
        !(type.isFloatingPointTy() && is_element_of(*llvm::getLoadStorePointerOperand(&i), type)))
      refuse(
          &i, "an access without a type",
          "memory is typed: a union, or bits that are read as another type, are not lifted",
          "use separate variables; compile with -O1 -Xclang -disable-llvm-passes, without "
          "-fno-strict-aliasing");
  }
  static bool stores_null(llvm::Instruction const& i) {
    auto const* const store = llvm::dyn_cast<llvm::StoreInst>(&i);
    return store && llvm::isa<llvm::ConstantPointerNull>(store->getValueOperand());
  }
  // Whether an address is computed as that of an element of this type. The copy of a local array of floating-point numbers, as by memcpy,
  // becomes accesses without a tag when the array becomes scalars; an access to bytes of another type has no such address.
  static bool is_element_of(llvm::Value const& address, llvm::Type const& type) {
    for (auto const* gep = llvm::dyn_cast<llvm::GEPOperator>(&address); gep;
         gep = llvm::dyn_cast<llvm::GEPOperator>(gep->getPointerOperand()))
      if (gep->getResultElementType() == &type) return true;
    return false;
  }
  // The difference of two addresses is a number that the lifted function has, too.
  void check_address(llvm::Instruction const& i) {
    for (llvm::Use const& u : i.uses()) {
      auto const* const difference = llvm::dyn_cast<llvm::BinaryOperator>(u.getUser());
      auto const* const call = llvm::dyn_cast<llvm::CallBase>(u.getUser());
      bool const subtracts = difference && difference->getOpcode() == llvm::Instruction::Sub &&
                             llvm::isa<llvm::PtrToIntInst>(difference->getOperand(0)) &&
                             llvm::isa<llvm::PtrToIntInst>(difference->getOperand(1));
      llvm::Function const* const callee = call ? call->getCalledFunction() : nullptr;
      bool const passes = callee && !callee->isDeclaration() && call->isArgOperand(&u) &&
                          is_address(*callee->getArg(call->getArgOperandNo(&u)));
      if (!subtracts && !passes && !llvm::isa<llvm::IntToPtrInst>(u.getUser()))
        refuse(&i, "the address of an array as a number", "arrays have no addresses", "use indices");
    }
  }
  // A number that is an address alone: a closure with one pointer is passed as a number.
  static bool is_address(llvm::Value const& number) {
    if (llvm::isa<llvm::PtrToIntInst>(number)) return true;
    return llvm::isa<llvm::Argument>(number) &&
           llvm::all_of(number.users(), [](llvm::User const* u) { return llvm::isa<llvm::IntToPtrInst>(u); });
  }
  static void check_copy(llvm::MemIntrinsic const& i) {
    if (i.isVolatile())
      refuse(
          &i, "a volatile access", "other threads or devices may change the memory", "use plain variables");
  }

  llvm::Function const& f_;
  linear_layout& layout_;
  llvm::DataLayout const& data_;
  lift_options const& o_;
  constant_placer place_;
};

struct allocation_row {
  std::string_view name;
  allocation is;
};
constexpr std::array allocation_rows{
    allocation_row{"malloc", allocation::allocate},
    allocation_row{"calloc", allocation::allocate_zeros},
    allocation_row{"free", allocation::release},
    allocation_row{"_Znwm", allocation::allocate},
    allocation_row{"_Znam", allocation::allocate},
    allocation_row{"_ZnwmRKSt9nothrow_t", allocation::allocate},
    allocation_row{"_ZnamRKSt9nothrow_t", allocation::allocate},
    allocation_row{"_ZdlPv", allocation::release},
    allocation_row{"_ZdaPv", allocation::release},
    allocation_row{"_ZdlPvm", allocation::release},
    allocation_row{"_ZdaPvm", allocation::release},
};

memory_effect effect_of_call(
    llvm::CallBase const& call, llvm::DenseMap<llvm::Function const*, memory_effect> const& effects) {
  if (is_ignored(call) || is_abort(call)) return memory_effect::none;
  if (llvm::isa<llvm::MemIntrinsic>(call) || allocation_of(call) != allocation::none)
    return memory_effect::writes;
  llvm::Function const* const callee = call.getCalledFunction();
  return callee ? effects.lookup(callee) : memory_effect::none;
}

void add_scalars(
    llvm::Type* t, std::uint64_t offset, llvm::DataLayout const& layout, std::vector<scalar_in_type>& all) {
  if (auto* const structure = llvm::dyn_cast<llvm::StructType>(t)) {
    llvm::StructLayout const& fields = *layout.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      add_scalars(
          structure->getElementType(i), offset + std::uint64_t(fields.getElementOffset(i)), layout, all);
  } else if (auto* const array = llvm::dyn_cast<llvm::ArrayType>(t)) {
    std::uint64_t const size = layout.getTypeAllocSize(array->getElementType());
    for (std::uint64_t i = 0; size > 0 && i < array->getNumElements(); ++i)
      add_scalars(array->getElementType(), offset + i * size, layout, all);
  } else
    all.push_back({t, offset});
}

} // namespace

std::vector<scalar_in_type> scalars_of(llvm::Type* t, llvm::DataLayout const& layout) {
  std::vector<scalar_in_type> all;
  add_scalars(t, 0, layout, all);
  return all;
}

std::uint64_t unset_bits(element_type const& cell) {
  if (cell.type == ir::f64) return 0x7ff8'0000'0000'0000;
  return cell.type == ir::f32 ? 0x7fc0'0000 : unset_integer;
}

std::optional<std::uint32_t> linear_layout::array_of(element_type const& cell) const {
  auto const at = std::ranges::find(cells, cell);
  if (at == cells.end()) return {};
  return static_cast<std::uint32_t>(at - cells.begin());
}

std::optional<element_type> cell_type(llvm::Type const* t) {
  if (t->isDoubleTy()) return element_type{ir::f64, 64};
  if (t->isFloatTy()) return element_type{ir::f32, 32};
  if (t->isPointerTy()) return word;
  if (auto const* integer = llvm::dyn_cast<llvm::IntegerType>(t))
    if (unsigned const bits = integer->getBitWidth(); bits == 8 || bits == 16 || bits == 32 || bits == 64)
      return element_type{ir::i64, bits};
  return {};
}

std::optional<std::uint32_t> cell_of(function_memory const& memory, llvm::Type const* t) {
  auto const cell = cell_type(t);
  for (std::uint32_t k = 0; cell && k < memory.objects.size(); ++k)
    if (memory.objects[k].element == *cell) return k;
  return {};
}

std::string_view accessed_type(llvm::MDNode const* tag) {
  if (!tag || tag->getNumOperands() < 3) return {};
  auto const* const type = llvm::dyn_cast_or_null<llvm::MDNode>(tag->getOperand(1).get());
  if (!type || type->getNumOperands() == 0) return {};
  auto const* const name = llvm::dyn_cast_or_null<llvm::MDString>(type->getOperand(0).get());
  return name ? std::string_view(name->getString()) : std::string_view();
}

bool is_of_any_type(llvm::Instruction const& i) {
  return accessed_type(i.getMetadata(llvm::LLVMContext::MD_tbaa)) == "omnipotent char";
}

std::vector<std::uint32_t> arrays_of(llvm::Instruction const& i, function_memory const& memory) {
  auto const* const store = llvm::dyn_cast<llvm::StoreInst>(&i);
  element_type const cell = *cell_type(store ? store->getValueOperand()->getType() : i.getType());
  std::vector<std::uint32_t> all;
  for (std::uint32_t k = 0; k < memory.objects.size(); ++k)
    if (memory.objects[k].element == cell) all.push_back(k);
  for (std::uint32_t k = 0; k < memory.objects.size(); ++k) {
    element_type const& other = memory.objects[k].element;
    bool const marks = cell.type != ir::i64 && other.bits == cell.bits;
    if (other.type == ir::i64 && (marks || (store && other.bits != cell.bits))) all.push_back(k);
  }
  return all;
}

allocation allocation_of(llvm::CallBase const& call) {
  llvm::Function const* const callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration()) return allocation::none;
  for (allocation_row const& row : allocation_rows)
    if (row.name == std::string_view(callee->getName())) return row.is;
  return allocation::none;
}

bool is_abort(llvm::CallBase const& call) {
  llvm::Function const* const callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration()) return false;
  if (callee->isIntrinsic()) return callee->getIntrinsicID() == llvm::Intrinsic::trap;
  return call.doesNotReturn() || callee->getName() == "__cxa_allocate_exception";
}

bool is_virtual_table(llvm::GlobalVariable const& g) {
  std::string_view const name = g.getName();
  return g.isConstant() && (name.starts_with("_ZTV") || name.starts_with("_ZTC") || name.starts_with("_ZTT"));
}

void place_functions(linear_layout& layout, llvm::Module const& m) {
  for (llvm::Function const* f : functions_with_address(m)) layout.address[f] = layout.end++;
  layout.end = (layout.end + block_alignment - 1) / block_alignment * block_alignment;
}

std::optional<std::int64_t>
address_of(llvm::Constant const& c, linear_layout const& layout, llvm::DataLayout const& data) {
  if (llvm::isa<llvm::ConstantPointerNull>(c) || llvm::isa<llvm::UndefValue>(c)) return 0;
  if (auto const* global = llvm::dyn_cast<llvm::GlobalValue>(&c)) {
    auto const at = layout.address.find(global);
    if (at == layout.address.end()) return {};
    return static_cast<std::int64_t>(at->second);
  }
  auto const* const gep = llvm::dyn_cast<llvm::GEPOperator>(&c);
  if (!gep) return {};
  auto const base = address_of(*llvm::cast<llvm::Constant>(gep->getPointerOperand()), layout, data);
  if (!base) return {};
  return *base + offset_of(*gep, {ir::i64, 8}, data).constant;
}

void check_linear(llvm::Function const& f, linear_layout& layout, lift_options const& o) {
  linear_check(f, layout, o).run();
}

memory_effect
effect_of(llvm::Function const& f, llvm::DenseMap<llvm::Function const*, memory_effect> const& effects) {
  memory_effect all = memory_effect::none;
  for (llvm::Instruction const& i : llvm::instructions(f)) {
    memory_effect one = memory_effect::none;
    if (llvm::isa<llvm::LoadInst>(i)) one = memory_effect::reads;
    if (llvm::isa<llvm::StoreInst>(i) || llvm::isa<llvm::AllocaInst>(i)) one = memory_effect::writes;
    if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i)) one = effect_of_call(*call, effects);
    all = std::max(all, one);
  }
  return all;
}

function_memory linear_memory_of(
    llvm::Function const& f, linear_layout const& layout,
    llvm::DenseMap<llvm::Function const*, memory_effect> const& effects) {
  function_memory all;
  all.is_linear = true;
  memory_effect const effect = effects.lookup(&f);
  if (effect != memory_effect::none)
    for (element_type const& cell : layout.cells)
      all.objects.push_back(
          {object::kind::memory, nullptr, cell, 0, effect == memory_effect::writes, true, {}});
  llvm::DataLayout const& data = f.getParent()->getDataLayout();
  for (llvm::Instruction const& i : llvm::instructions(f)) {
    if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i)) {
      memory_effect const of_call = effect_of_call(*call, effects);
      if (of_call != memory_effect::none) all.call_effect[call] = of_call;
    } else if (auto const* local = llvm::dyn_cast<llvm::AllocaInst>(&i)) {
      all.frame_offset[local] = all.frame_bytes;
      std::uint64_t const size = local->getAllocationSizeInBits(data)->getFixedValue() / 8;
      all.frame_bytes += (size + block_alignment) / block_alignment * block_alignment;
    }
  }
  return all;
}

} // namespace overdub::lifting
