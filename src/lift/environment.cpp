#include "environment.hpp"

#include "values.hpp"

namespace overdub::lifting {
namespace {

using ir::op;
using ir::value_id;

constexpr std::uint32_t not_a_variable = function_variables::none;

value_id table_of(ir::cursor& c, object const& o) {
  std::vector<value_id> elements;
  ir::type const element = o.type().element_type();
  for (std::uint64_t const bits : o.values) elements.push_back(c.literal(element, bits));
  if (elements.empty()) return c.add(op::fill, c.literal(std::int64_t{0}), zero_of(c, element));
  return c->result(c.insert(op::array, elements));
}

} // namespace

environment::environment(function_plan const& p, linear_layout const& l, ir::cursor& at)
    : plan(p), layout(l), c(at), variables_(p.variables.types.size(), value_id(ir::nothing)) {
  // In linear memory, the arrays of memory are the first parameters.
  auto next = static_cast<std::uint32_t>(p.memory.is_linear ? p.memory.objects.size() : 0);
  for (llvm::Argument const& a : p.function->args()) locals_[&a] = c->argument(ir::function::body, next++);
  for (std::uint32_t i = 0; i < p.memory.objects.size(); ++i) {
    value_id const array = initial_array(p.memory.objects[i], i);
    arrays_.push_back(array);
    if (p.variables.of_object[i] != not_a_variable) variables_[p.variables.of_object[i]] = array;
  }
}

value_id environment::initial_array(object const& o, std::uint32_t k) {
  switch (o.is) {
  case object::kind::parameter:
    return locals_[o.base];
  case object::kind::table:
    return table_of(c, o);
  case object::kind::memory:
    return c->argument(ir::function::body, k);
  case object::kind::heap:
    return c.add(op::fill, number(c, 0), zero_of(c, o.type().element_type()));
  case object::kind::local:
    break;
  }
  return c.add(
      op::fill, c.literal(static_cast<std::int64_t>(o.count())), zero_of(c, o.type().element_type()));
}

value_id environment::operator[](llvm::Value const* v) {
  if (plan.memory.is_linear && v->getType()->isPointerTy()) {
    if (auto const* constant = llvm::dyn_cast<llvm::Constant>(v))
      return c.literal(*address_of(*constant, layout, plan.function->getParent()->getDataLayout()));
  } else if (v->getType()->isPointerTy()) {
    if (llvm::isa<llvm::Argument>(v) || llvm::isa<llvm::AllocaInst>(v) ||
        llvm::isa<llvm::GlobalVariable>(v) || llvm::isa<llvm::UndefValue>(v))
      return c.literal(std::int64_t{0});
    if (llvm::isa<llvm::ConstantPointerNull>(v)) return c.literal(null_index);
    if (llvm::isa<llvm::ConstantExpr>(v)) return c.literal(constant_index(*llvm::cast<llvm::GEPOperator>(v)));
  }
  if (auto const* constant = llvm::dyn_cast<llvm::Constant>(v)) return literal_of(c, *constant);
  std::uint32_t const number = plan.variables.of(v);
  return number == not_a_variable ? locals_.find(v)->second : variable(number);
}

value_id environment::incoming(llvm::PHINode const& phi, llvm::BasicBlock const& before) {
  llvm::Value const* const v = phi.getIncomingValueForBlock(&before);
  bool const is_start = llvm::isa<llvm::ConstantPointerNull>(v) && !plan.memory.is_linear &&
                        plan.memory.objects[plan.memory.object_at(&phi)].starts_at_null;
  return is_start ? number(c, 0) : (*this)[v];
}

void environment::set(llvm::Value const* v, value_id x) {
  std::uint32_t const number = plan.variables.of(v);
  if (number == not_a_variable)
    locals_[v] = x;
  else
    set_variable(number, x);
}

void environment::set_results(llvm::CallBase const& call, std::vector<value_id> const& results) {
  if (!call.getType()->isStructTy()) {
    if (!results.empty()) set(&call, results[0]);
    return;
  }
  for (llvm::User const* u : call.users())
    if (auto const* part = llvm::dyn_cast<llvm::ExtractValueInst>(u))
      set(part, results[part->getIndices()[0]]);
}

value_id environment::array(llvm::Value const* pointer) { return array_of(plan.memory.object_at(pointer)); }

void environment::set_array(llvm::Value const* pointer, value_id x) {
  set_array_of(plan.memory.object_at(pointer), x);
}

value_id environment::array_of(std::uint32_t object) {
  std::uint32_t const number = plan.variables.of_object[object];
  return number == not_a_variable ? arrays_[object] : variable(number);
}

void environment::set_array_of(std::uint32_t object, value_id x) {
  set_variable(plan.variables.of_object[object], x);
}

value_id environment::variable(std::uint32_t v) {
  return variables_[v] == ir::nothing ? zero_of(c, plan.variables.types[v]) : variables_[v];
}

void environment::set_variable(std::uint32_t v, value_id x) {
  log_.emplace_back(v, variables_[v]);
  variables_[v] = x;
}

std::vector<value_id> environment::variables(std::vector<std::uint32_t> const& all) {
  std::vector<value_id> values;
  for (std::uint32_t const v : all) values.push_back(variable(v));
  return values;
}

void environment::back_to(mark m) {
  while (log_.size() > m) {
    variables_[log_.back().first] = log_.back().second;
    log_.pop_back();
  }
}

std::int64_t environment::constant_index(llvm::GEPOperator const& gep) const {
  object const& o = plan.memory.objects[plan.memory.object_at(&gep)];
  pointer_offset const offset = offset_of(gep, o.element, plan.function->getParent()->getDataLayout());
  auto const* const base = llvm::dyn_cast<llvm::GEPOperator>(offset.base);
  return offset.constant + (base ? constant_index(*base) : 0);
}

} // namespace overdub::lifting
