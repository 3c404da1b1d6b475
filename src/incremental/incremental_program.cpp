#include <overdub/execute/values.hpp>
#include <overdub/implementation/incremental/commit_changes.hpp>
#include <overdub/implementation/incremental/update_runner.hpp>
#include <overdub/incremental/incremental_program.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace overdub {
namespace increments {

[[noreturn, gnu::cold]] inline void throw_type(std::uint32_t input, ir::type wanted, ir::type given) {
  throw argument_error(message(
      "overdub: input %u is %s, and was given %s", input, overdub::detail::text_of(wanted).c_str(),
      overdub::detail::text_of(given).c_str()));
}

} // namespace increments

incremental_program::incremental_program(
    std::shared_ptr<update_program_cache> of, std::vector<datum> const& inputs,
    std::shared_ptr<std::vector<void*> const> contexts)
    : state_(std::move(of), std::move(contexts)) {
  update_program_cache const& programs = *state_.programs;
  increments::saved_values& saved = state_.saved;
  if (inputs.size() != state_.changes.inputs())
    throw argument_error(message(
        "overdub: @%s takes %u arguments, and was given %zu",
        std::string(programs.program().name_of(programs.program().entry)).c_str(), state_.changes.inputs(),
        inputs.size()));
  increments::update_runner runner(state_);
  runner.bind_full_updates();
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    ir::type const wanted = saved.variables[i].type;
    if (inputs[i].type() != wanted) increments::throw_type(i, wanted, inputs[i].type());
    if (saved.is_number(i))
      saved.numbers[i] = inputs[i].bits();
    else
      saved.arrays[i].assign(inputs[i]);
  }
  ir::function const& f = programs.function();
  for (std::uint32_t k = 0; k < saved.results.size(); ++k)
    if (ir::value_id const v = f.operand(f.yield_of(ir::function::body), k); f.is_literal(v))
      saved.results[k] = f.bits_of(v);
  runner.recompute_all();
  increments::commit_changes(state_);
}

incremental_program::incremental_program(incremental_program const& other) = default;
incremental_program::incremental_program(incremental_program&& other) noexcept = default;
incremental_program& incremental_program::operator=(incremental_program&& other) noexcept {
  if (this != &other) state_ = std::move(other.state_);
  return *this;
}
incremental_program::~incremental_program() = default;

incremental_program& incremental_program::operator=(incremental_program const& other) {
  increments::incremental_state const& from = other.state_;
  if (state_.programs != from.programs || state_.contexts != from.contexts || !state_.saved.is_whole() ||
      !from.saved.is_whole() || state_.saved.variables.size() != from.saved.variables.size())
    return *this = incremental_program(other);
  ++state_.saved.versions.arrays; // arrays may move: no proposal is valid
  state_.changes.set_proposed(false);
  state_.updates.proposal = nullptr;
  state_.saved.reserve(from.saved);
  rollback();
  state_.saved.assign(from.saved);
  state_.strategies.use_none();
  state_.is_commit_incomplete = from.is_commit_incomplete;
  return *this;
}

// ---- changes

void incremental_program::check_input(std::uint32_t i) const {
  state_.check_not_moved();
  if (i >= state_.changes.inputs())
    throw incremental_error(message(
        "overdub: input %u was set, and the function has %zu", i,
        static_cast<std::size_t>(state_.changes.inputs())));
}

void incremental_program::set(std::uint32_t input, datum const& x) {
  check_input(input);
  ir::type const wanted = state_.saved.variables[input].type;
  if (x.type() != wanted) increments::throw_type(input, wanted, x.type());
  if (state_.saved.is_number(input)) return set_bits(input, x.bits());
  state_.changes.set_array(input, x);
}

void incremental_program::set_differing(std::uint32_t input, datum const& now, datum const& x) {
  std::size_t const rank = x.type().rank;
  if (x.type() != now.type() || x.shape() != now.shape() || rank == 0 || rank > max_indices)
    return set(input, x);
  auto const maximum =
      std::max<i64>(increments::input_change::maximum_elements, x.size() / i64{listed_fraction});
  std::vector<std::pair<i64, std::uint64_t>> changed; // in row-major order
  execute::with_type(x.type().element, [&]<class T>(T) {
    auto const &from = now.elements<T>(), &to = x.elements<T>();
    for (i64 i = 0; i < to.size() && std::ssize(changed) <= maximum; ++i)
      if (std::memcmp(&from[i], &to[i], sizeof(T)) != 0)
        changed.emplace_back(i, increments::bits_of(reinterpret_cast<std::byte const*>(&to[i]), sizeof(T)));
  });
  if (std::ssize(changed) > maximum) return set(input, x);
  for (auto const& [i, bits] : changed) {
    i64 path[max_indices], rest = i;
    for (std::size_t axis = rank; axis-- > 0; rest /= x.shape()[axis]) path[axis] = rest % x.shape()[axis];
    set_at(input, {path, rank}, bits);
  }
}

// Where set_at cannot write to arguments directly.
void incremental_program::set_first_at(std::uint32_t input, i64 index, std::uint64_t bits) {
  check_input(input);
  state_.updates.direct = nullptr;
  increments::pending_changes& changes = state_.changes;
  increments::cells const& m = state_.saved.arrays[input];
  if (!changes[input].how.is_same() || m.type().rank != 1 ||
      static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(m.extent(0)))
    return changes.set_element(state_.saved, input, {&index, 1}, bits);
  if (m.bits_at(static_cast<std::size_t>(index) * m.size_of_scalar()) != bits)
    changes.set_first_element(input, index, bits);
}
void incremental_program::set_at(std::uint32_t input, std::span<i64 const> path, std::uint64_t bits) {
  check_input(input);
  state_.updates.direct = nullptr;
  state_.changes.set_element(state_.saved, input, path, bits);
}

void incremental_program::append(std::uint32_t input, datum const& x) {
  check_input(input);
  ir::type const t = state_.saved.variables[input].type;
  if (t.rank == 0)
    throw incremental_error(message(
        "overdub: input %u is a number, and was given an element more; only arrays have elements", input));
  if (x.type() != t.element_type()) increments::throw_type(input, t.element_type(), x.type());
  state_.changes.append(state_.saved, input, x);
}

// ---- values

std::uint32_t incremental_program::variable_of_result(std::size_t k) const {
  ir::function const& f = state_.programs->function();
  ir::value_id const v = f.operand(f.yield_of(ir::function::body), static_cast<std::uint32_t>(k));
  return f.is_literal(v) ? increments::layout::none : state_.saved.variables.of(v);
}

datum incremental_program::result(std::size_t k) const {
  ir::function const& f = state_.programs->function();
  ir::value_id const v = f.operand(f.yield_of(ir::function::body), static_cast<std::uint32_t>(k));
  if (f.is_literal(v)) return datum::of_bits(f.type_of(v), f.bits_of(v));
  if (f.type_of(v).rank == 0) return datum::of_bits(f.type_of(v), state_.saved.results[k]);
  return state_.saved.arrays[state_.saved.variables.of(v)].as_datum();
}

double incremental_program::difference_of_values(std::size_t k) const {
  std::uint64_t const after = proposed(k), before = state_.saved.results[k];
  auto const single = [](std::uint64_t bits) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  };
  switch (state_.programs->function().results[k].element) {
  case ir::scalar::f64:
    return std::bit_cast<double>(after) - std::bit_cast<double>(before);
  case ir::scalar::f32:
    return single(after) - single(before);
  default:
    return static_cast<double>(static_cast<std::int64_t>(after - before));
  }
}

[[gnu::cold]] void incremental_program::throw_not_proposed() const {
  ir::program const& p = state_.programs->program();
  throw incremental_error(message(
      "overdub: the changes of @%s were not proposed, and difference() is that of a proposal: propose() them",
      std::string(p.name_of(p.entry)).c_str()));
}

datum incremental_program::input(std::uint32_t i) const {
  state_.check_not_moved();
  return state_.saved.as_datum(i);
}

} // namespace overdub
