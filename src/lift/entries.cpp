#include "entries.hpp"

#include "values.hpp"

#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>

#include <algorithm>
#include <bit>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <optional>
#include <utility>

namespace overdub::lifting {
namespace {

using ir::op;
using ir::value_id;
using value_list = ir::builder::values;

// How functions in linear memory use pointers that they receive.
struct pointer_use {
  parameter_use as_array; // accessed: by copies
  bool is_array = true;
  bool is_stored = false;   // in memory, where other uses of it are not known
  bool is_compared = false; // with a pointer that is not derived from it, as the end of an array
  bool operator==(pointer_use const&) const = default;
};
using pointer_uses = llvm::DenseMap<llvm::Argument const*, pointer_use>;

class pointer_uses_finder {
public:
  pointer_uses_finder(module_plan const& plan, pointer_uses const& known) : plan_(plan), known_(known) {}

  pointer_use of(llvm::Value const& pointer) {
    derive(pointer);
    while (!pending_.empty()) {
      llvm::Value const* const v = pending_.back();
      pending_.pop_back();
      for (llvm::Use const& u : v->uses()) look(u);
    }
    for (llvm::Value const* v : compared_)
      if (!seen_.contains(v) && !llvm::isa<llvm::ConstantPointerNull>(v)) found_.is_compared = true;
    if (!found_.as_array.element.is_known())
      for (element_type const& e : copied_) add(e);
    return found_;
  }

private:
  void derive(llvm::Value const& v) {
    if (seen_.insert(&v).second) pending_.push_back(&v);
  }
  void look(llvm::Use const& u) {
    auto const& i = *llvm::cast<llvm::Instruction>(u.getUser());
    if (auto const* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&i)) {
      add(elements_in(llvm::cast<llvm::GEPOperator>(*gep)));
      derive(*gep);
    } else if (
        llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::SelectInst>(i) || llvm::isa<llvm::FreezeInst>(i)) {
      derive(i);
    } else if (llvm::isa<llvm::LoadInst>(i)) {
      add(elements_in(*i.getType()));
    } else if (auto const* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
      found_.as_array.is_written = true; // also if it is stored itself: others may write by it
      if (u.getOperandNo() == store->getPointerOperandIndex())
        add(elements_in(*store->getValueOperand()->getType()));
      else
        found_.is_stored = true;
    } else if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i)) {
      look_at_call(*call, u);
    } else if (llvm::isa<llvm::ICmpInst>(i)) {
      compared_.insert(compared_.end(), i.op_begin(), i.op_end());
      if (llvm::any_of(i.operands(), [](llvm::Value const* v) { return llvm::isa<llvm::Function>(v); }))
        found_.is_array = false;
    } else if (llvm::isa<llvm::PtrToIntInst>(i)) {
      for (llvm::User const* use : i.users()) {
        if (llvm::isa<llvm::CallBase>(
                use)) { // a struct of one pointer is passed as a number if no register is left
          found_.is_stored = found_.as_array.is_written = true;
          continue;
        }
        if (!llvm::isa<llvm::BinaryOperator>(use)) {
          found_.is_array = false;
          continue;
        }
        for (llvm::Value const* side : use->operands())
          compared_.push_back(llvm::cast<llvm::PtrToIntInst>(side)->getOperand(0));
      }
    } else if (!llvm::isa<llvm::ReturnInst>(i) && !llvm::isa<llvm::InsertValueInst>(i)) {
      found_.is_array = false;
    }
  }
  void look_at_call(llvm::CallBase const& call, llvm::Use const& u) {
    if (is_ignored(call)) return;
    unsigned const k = call.getArgOperandNo(&u);
    if (llvm::isa<llvm::MemIntrinsic>(call)) {
      found_.as_array.is_accessed = true;
      found_.as_array.is_written = found_.as_array.is_written || k == 0;
      if (auto const* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call)) look_at_copy(*copy, k);
      return;
    }
    llvm::Function const* const callee = call.getCalledFunction();
    if (!callee || !plan_.linear_of(callee)) {
      found_.is_array = found_.is_array && is_other_side_;
      return;
    }
    // The callee may return the pointer, and the caller may write by it.
    if (call.getType()->isPointerTy()) derive(call);
    for (llvm::User const* part : call.users())
      if (llvm::isa<llvm::ExtractValueInst>(part) && part->getType()->isPointerTy()) derive(*part);
    pointer_use const of_callee = known_.lookup(callee->getArg(k));
    found_.is_array = found_.is_array && of_callee.is_array;
    found_.as_array.is_written = found_.as_array.is_written || of_callee.as_array.is_written;
    found_.as_array.is_accessed = found_.as_array.is_accessed || of_callee.as_array.is_accessed;
    found_.is_stored = found_.is_stored || of_callee.is_stored;
    add(of_callee.as_array.element);
    if (!of_callee.is_compared) return;
    for (llvm::Argument const& other : callee->args())
      if (known_.lookup(&other).is_compared) compared_.push_back(call.getArgOperand(other.getArgNo()));
  }
  // What is copied has one type on both sides, which the uses of the other side may tell.
  void look_at_copy(llvm::MemTransferInst const& copy, unsigned k) {
    add(elements_in(copy));
    if (is_other_side_) return;
    llvm::Value const* const other =
        llvm::getUnderlyingObject(k == 0 ? copy.getRawSource() : copy.getRawDest());
    if (auto const* a = llvm::dyn_cast<llvm::Argument>(other)) {
      copied_.push_back(known_.lookup(a).as_array.element);
    } else if (!llvm::isa<llvm::Constant>(other)) {
      pointer_uses_finder finder(plan_, known_);
      finder.is_other_side_ = true;
      pointer_use const use = finder.of(*other);
      if (use.is_array) copied_.push_back(use.as_array.element);
    }
  }
  void add(std::vector<element_type> const& all) {
    for (element_type const& e : all) e.is_known() ? add(e) : void(found_.is_array = false);
  }
  void add(element_type const& e) {
    if (!e.is_known()) return;
    if (found_.as_array.element.is_known() && found_.as_array.element != e) found_.is_array = false;
    found_.as_array.element = e;
  }

  module_plan const& plan_;
  pointer_uses const& known_;
  pointer_use found_;
  bool is_other_side_ = false;       // of a copy
  std::vector<element_type> copied_; // of other sides
  std::vector<llvm::Value const*> pending_;
  std::vector<llvm::Value const*> compared_;
  llvm::SmallPtrSet<llvm::Value const*, 16> seen_;
};

// How an entry passes a parameter; none if it cannot.
std::optional<entry_parameter>
parameter_of(llvm::Argument const& a, pointer_use const& use, linear_layout const& memory) {
  entry_parameter p;
  if (!a.getType()->isPointerTy()) return p;
  bool const is_accessed = use.as_array.is_accessed || use.is_stored;
  bool const has_elements =
      use.as_array.element.is_known() ? memory.array_of(use.as_array.element) || !is_accessed : !is_accessed;
  if (use.is_array && !use.is_compared && has_elements) {
    p.is = entry_parameter::kind::array;
    p.array = use.as_array;
    if (!p.array.element.is_known()) p.array.element = {ir::f64, 64};
    return p;
  }
  if (!a.hasByValAttr()) return {};
  p.is = entry_parameter::kind::structure;
  constexpr std::uint64_t most_bytes = 512;
  llvm::DataLayout const& layout = a.getParent()->getParent()->getDataLayout();
  if (layout.getTypeAllocSize(a.getParamByValType()).getFixedValue() > most_bytes) return {};
  p.fields = scalars_of(a.getParamByValType(), layout);
  bool const has_numbers_alone = std::ranges::all_of(p.fields, [](scalar_in_type const& field) {
    return !field.type->isPointerTy() && cell_type(field.type);
  });
  if (!has_numbers_alone) return {};
  return p;
}

bool returns_pointer(llvm::Function const& f) {
  return std::ranges::any_of(result_types(f), [](llvm::Type const* t) { return t->isPointerTy(); });
}

class entry_writer {
public:
  entry_writer(ir::program& p, module_plan const& plan, entry const& e)
      : e_(e), plan_(plan), f_(plan.functions[e.function]), c_(p, e.id, ir::function::body) {}

  void run() {
    memory_ = call(plan_.initial, {});
    for (llvm::Argument const& a : f_.function->args()) pass(a);
    value_list operands = f_.memory.objects.empty() ? value_list{} : memory_;
    operands.insert(operands.end(), addresses_.begin(), addresses_.end());
    value_list results = call(f_.id, operands);
    if (!f_.memory.objects.empty() && is_returned(f_.memory.objects.front())) {
      memory_.assign(results.end() - static_cast<std::ptrdiff_t>(memory_.size()), results.end());
      results.resize(results.size() - memory_.size());
    }
    for (std::size_t k = 0; k < e_.parameters.size(); ++k) {
      entry_parameter const& parameter = e_.parameters[k];
      if (parameter.is != entry_parameter::kind::array || !parameter.array.is_written) continue;
      results.push_back(written(k, parameter.array));
    }
    c_.yield(results);
  }

private:
  // What the function left of an array. Copies may have written it by another type.
  value_id written(std::size_t k, parameter_use const& use) {
    std::optional<std::uint32_t> const array = plan_.layout.array_of(use.element);
    if (!array) return arrays_[k];
    value_id const first = cell(addresses_[k], use.element), count = c_.add(op::length, arrays_[k]);
    if (use.is_accessed) check_written(use.element, first, count);
    return c_.add(op::slice, memory_[*array], first, count);
  }
  void check_written(element_type const& element, value_id first, value_id count) {
    value_id const integers = memory_[*plan_.layout.array_of({ir::i64, element.bits})];
    auto const is = [&](op code, value_id x, std::uint64_t bits) {
      return c_.add(code, x, number(static_cast<std::int64_t>(bits)));
    };
    value_id const holds =
        ir::builder(c_)
            .loop(
                count, {c_.literal(true)},
                [&](value_id i, value_list const& now) {
                  value_id const x = c_.add(op::at, integers, c_.add(op::add, first, i));
                  value_id const is_typed =
                      element.type == ir::i64
                          ? c_.add(
                                op::logical_and, is(op::ne, x, unset_integer), is(op::ne, x, floating_mark))
                          : c_.add(op::logical_or, is(op::eq, x, floating_mark), is(op::eq, x, 0));
                  return c_.add(op::logical_and, now[0], is_typed);
                })
            .result();
    c_.insert(
        op::assert_, value_list{holds}, ir::cursor::types{},
        ir::attributes::of(c_.owner().intern("an array was not written, or was written as another type")));
  }
  value_id number(std::int64_t x) { return c_.literal(x); }
  value_id cell(value_id address, element_type const& element) {
    return c_.add(op::shift_right, address, number(std::countr_zero(element.bytes())));
  }
  value_list call(ir::function_id callee, value_list const& operands) {
    std::vector<ir::type> const types = c_.owner()[callee].results;
    ir::node_id const n = c_.insert(op::call, operands, types, ir::attributes::of(callee));
    value_list results;
    for (std::uint32_t k = 0; k < types.size(); ++k) results.push_back(c_->result(n, k));
    return results;
  }
  void allocate(value_id bytes) {
    value_list operands = memory_;
    operands.push_back(bytes);
    value_list const results = call(plan_.allocate, operands);
    addresses_.push_back(results[0]);
    memory_.assign(results.begin() + 1, results.end());
  }
  void pass(llvm::Argument const& a) {
    entry_parameter const& parameter = e_.parameters[a.getArgNo()];
    if (parameter.is == entry_parameter::kind::structure) {
      arrays_.push_back(ir::nothing);
      return pass_structure(a, parameter);
    }
    value_id const x = c_->argument(ir::function::body, next_++);
    arrays_.push_back(x);
    if (parameter.is == entry_parameter::kind::scalar)
      addresses_.push_back(x);
    else
      pass_array(x, parameter.array.element);
  }
  void pass_array(value_id x, element_type const& element) {
    value_id const count = c_.add(op::length, x);
    allocate(c_.add(op::mul, count, number(static_cast<std::int64_t>(element.bytes()))));
    std::optional<std::uint32_t> const array = plan_.layout.array_of(element);
    if (!array) return; // nothing accesses it
    value_id const first = cell(addresses_.back(), element);
    fill(*array, first, count, [&](value_id i) { return c_.add(op::at, x, i); });
    if (element.type != ir::i64)
      fill(*plan_.layout.array_of({ir::i64, element.bits}), first, count, [&](value_id) { return mark(); });
  }
  template <class Element>
  void fill(std::uint32_t array, value_id first, value_id count, Element const& element) {
    memory_[array] = ir::builder(c_)
                         .loop(
                             count, {memory_[array]},
                             [&](value_id i, value_list const& now) {
                               return c_.add(op::update, now[0], c_.add(op::add, first, i), element(i));
                             })
                         .result();
  }
  value_id mark() { return number(static_cast<std::int64_t>(floating_mark)); }
  void pass_structure(llvm::Argument const& a, entry_parameter const& parameter) {
    llvm::DataLayout const& layout = a.getParent()->getParent()->getDataLayout();
    allocate(
        number(static_cast<std::int64_t>(layout.getTypeAllocSize(a.getParamByValType()).getFixedValue())));
    for (scalar_in_type const& field : parameter.fields) {
      value_id const x = c_->argument(ir::function::body, next_++);
      element_type const element = *cell_type(field.type);
      std::optional<std::uint32_t> const array = plan_.layout.array_of(element);
      if (!array) continue;
      value_id const address =
          c_.add(op::add, addresses_.back(), number(static_cast<std::int64_t>(field.offset)));
      memory_[*array] = c_.add(op::update, memory_[*array], cell(address, element), x);
      if (element.type == ir::i64) continue;
      std::uint32_t const marks = *plan_.layout.array_of({ir::i64, element.bits});
      memory_[marks] = c_.add(op::update, memory_[marks], cell(address, element), mark());
    }
  }

  entry const& e_;
  module_plan const& plan_;
  function_plan const& f_;
  ir::cursor c_;
  value_list memory_;
  value_list addresses_; // arguments of the function
  value_list arrays_;    // arguments of the entry that are passed for them
  std::uint32_t next_ = 0;
};

} // namespace

std::vector<entry> find_entries(module_plan const& plan) {
  pointer_uses uses;
  bool changes = true;
  while (changes) {
    changes = false;
    for (auto const& [f, k] : plan.in_memory)
      for (llvm::Argument const& a : f->args()) {
        if (!a.getType()->isPointerTy()) continue;
        pointer_use const now = pointer_uses_finder(plan, uses).of(a);
        pointer_use& before = uses[&a];
        changes = changes || !(now == before);
        before = now;
      }
  }
  std::vector<entry> all;
  for (std::uint32_t k = 0; k < plan.functions.size(); ++k) {
    function_plan const& f = plan.functions[k];
    if (!f.memory.is_linear || plan.of(f.function) || returns_pointer(*f.function)) continue;
    entry e{k, {}, {}};
    for (llvm::Argument const& a : f.function->args())
      if (auto p = parameter_of(a, uses.lookup(&a), plan.layout)) e.parameters.push_back(std::move(*p));
    if (e.parameters.size() == f.function->arg_size()) all.push_back(std::move(e));
  }
  return all;
}

void declare_entry(ir::program& p, module_plan const& plan, entry& e, std::string const& name) {
  function_plan const& f = plan.functions[e.function];
  std::vector<ir::type> parameters, results;
  for (llvm::Type const* t : result_types(*f.function)) results.push_back(scalar_type(t));
  std::vector<std::string> names;
  for (llvm::Argument const& a : f.function->args()) {
    entry_parameter const& parameter = e.parameters[a.getArgNo()];
    std::string const of_argument = a.getName().str();
    if (parameter.is == entry_parameter::kind::structure) {
      for (scalar_in_type const& field : parameter.fields) parameters.push_back(cell_type(field.type)->type);
      names.resize(parameters.size());
      continue;
    }
    bool const is_array = parameter.is == entry_parameter::kind::array;
    parameters.push_back(is_array ? parameter.array.element.type.array_of() : scalar_type(a.getType()));
    names.push_back(of_argument);
    if (is_array && parameter.array.is_written) results.push_back(parameters.back());
  }
  e.id = p.add(name, parameters);
  p[e.id].results = results;
  p[e.id].place = p[f.id].place;
  ir::cursor c(p, e.id, ir::function::body);
  for (std::uint32_t k = 0; k < names.size(); ++k)
    if (!names[k].empty()) c.set_name(c->argument(ir::function::body, k), p.intern(names[k]));
}

void emit_entry(ir::program& p, module_plan const& plan, entry const& e) { entry_writer(p, plan, e).run(); }

} // namespace overdub::lifting
