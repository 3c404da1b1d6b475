#include <overdub/implementation/incremental/gather_index.hpp>
#include <overdub/implementation/incremental/reverse_index.hpp>
#include <overdub/incremental/incremental_program.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace overdub {
namespace increments {

[[noreturn, gnu::cold]] inline void throw_type(std::uint32_t input, ir::type wanted, ir::type given) {
  throw argument_error(message(
      "overdub: input %u is %s, and was given %s", input, overdub::detail::text_of(wanted).c_str(),
      overdub::detail::text_of(given).c_str()));
}
[[noreturn, gnu::cold]] inline void
throw_indices(std::uint32_t input, ir::type t, std::size_t indices, std::size_t maximum) {
  throw incremental_error(message(
      "overdub: input %u has %d axes, and an element was set by %zu indices; elements of up to %zu axes are "
      "set by as "
      "many",
      input, static_cast<int>(t.rank), indices, maximum));
}

} // namespace increments

incremental_program::incremental_program(
    std::shared_ptr<update_program_cache> of, std::vector<datum> const& inputs,
    std::shared_ptr<std::vector<void*> const> contexts)
    : update_programs_(std::move(of)), contexts_(std::move(contexts)), layout_(update_programs_->function()) {
  auto const parameters = update_programs_->function().parameters();
  if (inputs.size() != parameters.size())
    throw argument_error(message(
        "overdub: @%s takes %zu arguments, and was given %zu",
        std::string(update_programs_->program().name_of(update_programs_->program().entry)).c_str(),
        parameters.size(), inputs.size()));
  pending_.resize(inputs.size());
  changed_.resize(inputs.size());
  values_.resize(update_programs_->function().results.size());
  reset_saved_values();
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type() != layout_[i].type) increments::throw_type(i, layout_[i].type, inputs[i].type());
    if (is_number(i))
      numbers_[i] = inputs[i].bits();
    else
      arrays_[i].assign(inputs[i]);
  }
  ir::function const& f = update_programs_->function();
  for (std::uint32_t k = 0; k < values_.size(); ++k)
    if (ir::value_id const v = f.operand(f.yield_of(ir::function::body), k); f.is_literal(v))
      values_[k] = f.bits_of(v);
  recompute_all();
  commit();
}

// A copy binds update programs when it needs them.
incremental_program::incremental_program(incremental_program const& other)
    : update_programs_(other.update_programs_), contexts_(other.contexts_), layout_(other.layout_),
      numbers_(other.numbers_), arrays_(other.arrays_), reverse_indices_(other.reverse_indices_.size()),
      is_sum_(other.is_sum_), largest_magnitudes_(other.largest_magnitudes_), pending_(other.pending_.size()),
      changed_(other.changed_.size()), strategies_(other.strategies_), values_(other.values_),
      commits_until_run_(other.commits_until_run_), must_recompute_all_(other.must_recompute_all_),
      is_commit_incomplete_(other.is_commit_incomplete_) {}

incremental_program& incremental_program::operator=(incremental_program const& other) {
  auto const is_whole = [&](incremental_program const& p) {
    return p.largest_magnitudes_.size() == other.layout_.size();
  };
  if (update_programs_ != other.update_programs_ || contexts_ != other.contexts_ ||
      layout_.size() != other.layout_.size() || !is_whole(*this) || !is_whole(other))
    return *this = incremental_program(other);
  ++arrays_version_; // arrays may move: no proposal is valid
  is_proposed_ = false;
  proposal_ = nullptr;
  for (std::uint32_t k = 0; k < layout_.size(); ++k) {
    arrays_[k].reserve(other.arrays_[k]);
    largest_magnitudes_[k].reserve(other.largest_magnitudes_[k].size());
  }
  clear_changes();
  ++numbers_version_;
  numbers_ = other.numbers_;
  arrays_ = other.arrays_;
  largest_magnitudes_ = other.largest_magnitudes_;
  values_ = other.values_;
  strategy_ = no_strategy;
  for (auto const& each : reverse_indices_)
    if (each != nullptr) each->invalidate();
  commits_until_run_ = other.commits_until_run_;
  must_recompute_all_ = other.must_recompute_all_;
  is_commit_incomplete_ = other.is_commit_incomplete_;
  return *this;
}

[[noreturn, gnu::cold]] void incremental_program::throw_outside(std::uint32_t input, i64 index, i64 size) {
  throw index_error(message(
      "overdub: input %u has %lld elements along this axis, and none at %lld", input,
      static_cast<long long>(size), static_cast<long long>(index)));
}

// ---- changes

incremental_program::incremental_program(incremental_program&& other) noexcept = default;
incremental_program& incremental_program::operator=(incremental_program&& other) noexcept = default;
incremental_program::~incremental_program() = default;

[[noreturn, gnu::cold]] void incremental_program::throw_moved() {
  throw incremental_error(
      message("overdub: this incremental computation was moved from, and has no value any more; "
              "assign to it before it is "
              "used"));
}

inline void incremental_program::check_input(std::uint32_t i) const {
  check_not_moved();
  if (i >= pending_.size())
    throw incremental_error(
        message("overdub: input %u was set, and the function has %zu", i, pending_.size()));
}

void incremental_program::set(std::uint32_t input, datum const& x) {
  check_input(input);
  if (x.type() != layout_[input].type) increments::throw_type(input, layout_[input].type, x.type());
  if (is_number(input)) return set_bits(input, x.bits());
  increments::cells whole(x.type());
  whole.assign(x);
  change& c = pending_[input];
  is_proposed_ = false;
  c.whole = std::move(whole);
  if (c.how.is_same()) changed_[change_count_++] = input;
  set_change(input, {.whole = true});
}

void incremental_program::set_differing(std::uint32_t input, datum const& now, datum const& x) {
  std::size_t const rank = x.type().rank;
  if (x.type() != now.type() || x.shape() != now.shape() || rank == 0 || rank > most_indices)
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
    i64 path[most_indices], rest = i;
    for (std::size_t axis = rank; axis-- > 0; rest /= x.shape()[axis]) path[axis] = rest % x.shape()[axis];
    set_at(input, {path, rank}, bits);
  }
}

// Where set_at cannot write to arguments directly.
void incremental_program::set_first_at(std::uint32_t input, i64 index, std::uint64_t bits) {
  if (input >= pending_.size() || !pending_[input].how.is_same() || arrays_[input].type().rank != 1 ||
      static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(arrays_[input].extent(0)))
    return set_at(input, {&index, 1}, bits);
  increments::cells const& m = arrays_[input];
  if (m.bits_at(static_cast<std::size_t>(index) * m.size_of_scalar()) == bits) return; // no change
  direct_ = nullptr;
  begin_element_change(input, index, bits);
}

void incremental_program::set_at(std::uint32_t input, std::span<i64 const> path, std::uint64_t bits) {
  check_input(input);
  direct_ = nullptr;
  change& c = pending_[input];
  increments::cells const& m = arrays_[input];
  if (path.size() != m.type().rank || path.size() > most_indices)
    increments::throw_indices(input, m.type(), path.size(), most_indices);
  auto const check = [&](increments::cells const& of) {
    for (std::size_t k = 0; k < path.size(); ++k)
      if (static_cast<std::uint64_t>(path[k]) >= static_cast<std::uint64_t>(of.extent(k)))
        throw_outside(input, path[k], of.extent(k));
  };
  auto const is_new = [&] { return path[0] >= m.extent(0) && path[0] - m.extent(0) < appended_count(c); };
  if (is_new()) { // an appended element
    increments::cells& to = arrays_[input];
    for (std::size_t k = 1; k < path.size(); ++k)
      if (static_cast<std::uint64_t>(path[k]) >= static_cast<std::uint64_t>(m.extent(k)))
        throw_outside(input, path[k], m.extent(k));
    to.set_bits_at(to.at(path), bits);
    if (!c.how.appends_list()) c.elements[path[0] - m.extent(0)].bits = bits;
    is_proposed_ = false;
    return;
  }
  if (c.how.appended) { // an element that was there before the append
    check(m);
    make_whole(input);
  }
  if (c.how.whole) { // an element of an array that is set as a whole
    check(*c.whole);
    c.whole->set_bits_at(c.whole->at(path), bits);
    is_proposed_ = false;
    return;
  }
  check(m);
  if (c.how.is_listed()) {
    if (!c.list->has(path[0])) {
      if (m.bits_at(m.at(path)) == bits) return; // no change
      if (!may_list(input, 1)) {
        make_whole(input);
        return set_at(input, path, bits);
      }
    }
    std::byte* const row = c.list->at(path[0], m);
    std::size_t const size = m.size_of_scalar();
    increments::put_bits(
        row + (m.at(path) - static_cast<std::size_t>(path[0]) * m.bytes_of_row()), size, bits);
    is_proposed_ = false;
    return;
  }
  for (std::uint8_t k = 0; k < c.how.elements; ++k)
    if (std::equal(path.begin(), path.end(), c.elements[k].path)) {
      c.elements[k].bits = bits;
      is_proposed_ = false;
      return;
    }
  if (m.bits_at(m.at(path)) == bits) return; // no change
  is_proposed_ = false;
  // Update programs require that changed elements differ in their first index.
  bool const meets = std::any_of(
      c.elements, c.elements + c.how.elements, [&](element_change const& p) { return p.path[0] == path[0]; });
  if (meets || c.how.elements == increments::input_change::maximum_elements) {
    if (may_list(input, 1))
      make_listed(input);
    else
      make_whole(input);
    return set_at(input, path, bits);
  }
  if (c.how.elements == 0) changed_[change_count_++] = input;
  element_change& p = c.elements[c.how.elements];
  for (std::size_t k = 0; k < path.size(); ++k) p.path[k] = path[k];
  p.bits = bits;
  set_change(
      input, {.elements = static_cast<std::uint8_t>(c.how.elements + 1),
              .indices = static_cast<std::uint8_t>(path.size())});
}

void incremental_program::append(std::uint32_t input, datum const& x) {
  check_input(input);
  change& c = pending_[input];
  increments::cells& m = arrays_[input];
  ir::type const t = m.type();
  if (t.rank == 0)
    throw incremental_error(message(
        "overdub: input %u is a number, and was given an element more; only arrays have elements", input));
  if (x.type() != t.element_type()) increments::throw_type(input, t.element_type(), x.type());
  i64 const rows = c.how.whole ? c.whole->extent(0) : m.extent(0) + appended_count(c);
  if (rows > 0)
    for (std::size_t axis = 1; axis < t.rank; ++axis)
      if (i64 const wanted = (c.how.whole ? *c.whole : m).extent(axis); x.shape()[axis - 1] != wanted)
        throw size_error(message(
            "overdub: input %u has rows of size %lld, and was given one of size %lld more", input,
            static_cast<long long>(wanted), static_cast<long long>(x.shape()[axis - 1])));
  // An append to an empty array, or to one with other changes, is a change as a whole.
  bool const is_first = c.how.is_same();
  if (!c.how.whole && (m.extent(0) == 0 || (!is_first && !c.how.appended))) make_whole(input);
  is_proposed_ = false;
  increments::cells& to = c.how.whole ? *c.whole : m;
  if (rows == 0) to.set_row(x.shape().data());
  if (!to.reserve_rows(rows - to.extent(0) + 1) && !c.how.whole) ++arrays_version_;
  std::byte* const row = to.data() + static_cast<std::size_t>(rows) * to.bytes_of_row();
  if (t.rank == 1)
    increments::put_bits(row, to.size_of_scalar(), x.bits());
  else
    execute::with_type(t.element, [&]<class T>(T) {
      if (auto const& from = x.elements<T>(); !from.empty()) std::memcpy(row, from.data(), to.bytes_of_row());
    });
  if (c.how.whole) return to.extend(1);
  append_element(input, rows, t.rank == 1 ? x.bits() : 0);
}

// Clears changes other than numbers and single elements.
void incremental_program::clear_change(change& c) {
  if (c.how.is_listed()) c.list->clear();
  c.whole.reset();
  c.is_exchanged = false;
}

// Whether so many more elements still make a list. A larger part of an array is updated faster as a whole.
inline bool incremental_program::may_list(std::uint32_t i, std::size_t more) const {
  change const& c = pending_[i];
  std::size_t const listed = c.how.is_listed() ? c.list->size() : c.how.elements;
  return (listed + more) * listed_fraction <= static_cast<std::size_t>(arrays_[i].extent(0));
}
// Makes single elements a list.
inline void incremental_program::make_listed(std::uint32_t i) {
  change& c = pending_[i];
  increments::cells const& m = arrays_[i];
  if (!c.list) c.list.emplace(m.type());
  c.list->begin(m);
  for (std::uint8_t k = 0; k < c.how.elements; ++k) {
    element_change const& p = c.elements[k];
    std::size_t const in_row =
        m.at({p.path, c.how.indices}) - static_cast<std::size_t>(p.path[0]) * m.bytes_of_row();
    increments::put_bits(c.list->at(p.path[0], m) + in_row, m.size_of_scalar(), p.bits);
  }
  set_change(i, {.elements = increments::input_change::listed, .indices = 1});
}
// Makes a change one of the whole input.
inline void incremental_program::make_whole(std::uint32_t i) {
  change& c = pending_[i];
  c.whole = whole_input(i);
  if (c.how.is_listed()) c.list->clear();
  if (c.how.is_same()) changed_[change_count_++] = i;
  set_change(i, {.whole = true});
}

// An array with its pending changes.
increments::cells incremental_program::whole_input(std::uint32_t i) const {
  change const& c = pending_[i];
  increments::cells all = arrays_[i];
  if (c.how.appended) {
    all.extend(c.appended_count);
    return all;
  }
  if (c.how.is_listed()) {
    std::size_t const bytes = all.bytes_of_row();
    auto const indices = c.list->indices();
    for (std::size_t k = 0; bytes > 0 && k < indices.size(); ++k)
      std::memcpy(
          all.data() + static_cast<std::size_t>(indices[k]) * bytes, c.list->elements().data() + k * bytes,
          bytes);
    return all;
  }
  for (std::uint8_t k = 0; k < c.how.elements; ++k)
    all.set_bits_at(all.at({c.elements[k].path, c.how.indices}), c.elements[k].bits);
  return all;
}

// Exchanges the committed inputs and the pending ones.
void incremental_program::exchange_changes() {
  for (std::uint32_t n = 0; n < change_count_; ++n) {
    std::uint32_t const i = changed_[n];
    change& c = pending_[i];
    if (c.how.appended) {
      arrays_[i].extend(c.is_exchanged ? -c.appended_count : c.appended_count);
      c.is_exchanged = !c.is_exchanged;
    } else if (c.how.is_listed()) {
      std::size_t const bytes = arrays_[i].bytes_of_row();
      auto const indices = c.list->indices();
      for (std::size_t k = 0; k < indices.size(); ++k) {
        std::byte* const row = c.list->elements().data() + k * bytes;
        std::swap_ranges(row, row + bytes, arrays_[i].data() + static_cast<std::size_t>(indices[k]) * bytes);
      }
    } else if (!c.how.whole) {
      increments::cells& of = arrays_[i];
      for (std::uint8_t k = 0; k < c.how.elements; ++k) {
        std::size_t const at = of.at({c.elements[k].path, c.how.indices});
        std::uint64_t const before = of.bits_at(at);
        of.set_bits_at(at, c.elements[k].bits);
        c.elements[k].bits = before;
      }
    } else if (is_number(i)) {
      std::swap(numbers_[i], c.bits);
    } else {
      std::swap(arrays_[i], *c.whole);
    }
  }
}

// ---- values

std::uint32_t incremental_program::variable_of_result(std::size_t k) const {
  ir::function const& f = update_programs_->function();
  ir::value_id const v = f.operand(f.yield_of(ir::function::body), static_cast<std::uint32_t>(k));
  return f.is_literal(v) ? increments::layout::none : layout_.of(v);
}

datum incremental_program::result(std::size_t k) const {
  auto const& f = update_programs_->function();
  ir::value_id const v = f.operand(f.yield_of(ir::function::body), static_cast<std::uint32_t>(k));
  if (f.is_literal(v)) return datum::of_bits(f.type_of(v), f.bits_of(v));
  if (f.type_of(v).rank == 0) return datum::of_bits(f.type_of(v), values_[k]);
  return arrays_[layout_.of(v)].as_datum();
}

double incremental_program::difference_of_values(std::size_t k) const {
  auto const number = [&](std::uint64_t bits) {
    switch (update_programs_->function().results[k].element) {
    case ir::scalar::f64:
      return std::bit_cast<double>(bits);
    case ir::scalar::f32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    default:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    }
  };
  if (ir::scalar const s = update_programs_->function().results[k].element;
      s != ir::scalar::f64 && s != ir::scalar::f32)
    return static_cast<double>(static_cast<std::int64_t>(proposed(k) - values_[k]));
  return number(proposed(k)) - number(values_[k]);
}

[[gnu::cold]] void incremental_program::throw_not_proposed() const {
  throw incremental_error(message(
      "overdub: the changes of @%s were not proposed, and difference() is that of a proposal: propose() them",
      std::string(update_programs_->program().name_of(update_programs_->program().entry)).c_str()));
}

datum incremental_program::input(std::uint32_t i) const {
  check_not_moved();
  return is_number(i) ? datum::of_bits(layout_[i].type, numbers_[i]) : arrays_[i].as_datum();
}

} // namespace overdub
