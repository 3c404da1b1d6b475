#include "allocator.hpp"

#include "values.hpp"

#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>

#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace overdub::lifting {
namespace {

using ir::op;
using ir::value_id;
using value_list = ir::builder::values;

class allocator_writer {
public:
  allocator_writer(ir::program& p, linear_layout const& layout) : p_(p), layout_(layout) {
    for (element_type const& cell : layout.cells) memory_.push_back(cell.type.array_of());
  }

  ir::function_id initial() {
    ir::function_id const f = p_.add("initial linear memory", std::vector<ir::type>{});
    p_[f].results = memory_;
    ir::cursor c(p_, f, ir::function::body);
    value_list all;
    for (std::size_t k = 0; k < memory_.size(); ++k) all.push_back(initial_array(c, k));
    c.yield(all);
    return f;
  }

  // (memory, bytes) -> (address, memory)
  ir::function_id allocate() {
    ir::cursor c = begin("allocate linear memory", true);
    value_list memory = arguments(c);
    value_id const bytes = memory.back();
    memory.pop_back();
    check(
        c,
        c.add(
            op::logical_and, c.add(op::ge, bytes, number(c, 0)), c.add(op::lt, bytes, number(c, most_bytes))),
        "a block of memory has a size that is negative, or exceeds the limit");
    value_id const end = word(c, memory[0], end_word), last = word(c, memory[0], last_word);
    value_id const address = c.add(op::add, end, number(c, block_alignment));
    value_id const rounded = c.add(
        op::bit_and, c.add(op::add, bytes, number(c, block_alignment - 1)),
        number(c, -std::int64_t{block_alignment}));
    value_id const next = c.add(op::add, address, rounded);
    value_id const capacity = c.add(op::mul, c.add(op::length, memory[0]), number(c, 8));
    value_id const more =
        c.add(op::max, capacity, c.add(op::sub, next, capacity)); // bytes, if there are not enough
    memory = ir::builder(c)
                 .if_(
                     c.add(op::gt, next, capacity),
                     [&] {
                       value_list grown;
                       for (std::size_t k = 0; k < memory.size(); ++k) {
                         element_type const& cell = layout_.cells[k];
                         value_id const cells = c.add(op::shift_right, more, shift(c, cell));
                         grown.push_back(c.add(
                             op::concat, memory[k],
                             c.add(op::fill, cells, c.literal(cell.type, unset_bits(cell)))));
                       }
                       return grown;
                     },
                     [&] { return memory; })
                 .results;
    value_id const header = c.add(op::shift_right, end, number(c, 3));
    memory[0] = c.add(op::update, memory[0], header, last);
    memory[0] = c.add(op::update, memory[0], c.add(op::add, header, number(c, 1)), number(c, 1));
    memory[0] = c.add(op::update, memory[0], number(c, end_word), next);
    memory[0] = c.add(op::update, memory[0], number(c, last_word), address);
    memory.insert(memory.begin(), address);
    c.yield(memory);
    return c.id();
  }

  // (memory, address) -> memory
  ir::function_id release() {
    ir::cursor c = begin("release linear memory", false);
    value_list memory = arguments(c);
    value_id const address = memory.back();
    memory.pop_back();
    memory = ir::builder(c)
                 .if_(
                     c.add(op::ne, address, number(c, 0)), [&] { return released(c, memory, address); },
                     [&] { return memory; })
                 .results;
    c.yield(memory);
    return c.id();
  }

private:
  static constexpr std::int64_t most_bytes = std::int64_t{1} << 40;

  static value_id shift(ir::cursor& c, element_type const& cell) {
    return number(c, std::countr_zero(cell.bytes()));
  }
  static value_id word(ir::cursor& c, value_id words, std::int64_t k) {
    return c.add(op::at, words, number(c, k));
  }
  static void check(ir::cursor& c, value_id holds, char const* message) {
    c.insert(
        op::assert_, value_list{holds}, ir::cursor::types{}, ir::attributes::of(c.owner().intern(message)));
  }

  ir::cursor begin(std::string const& name, bool returns_address) {
    std::vector<ir::type> parameters = memory_, results = memory_;
    parameters.push_back(ir::i64);
    if (returns_address) results.insert(results.begin(), ir::i64);
    ir::function_id const f = p_.add(name, parameters);
    p_[f].results = results;
    return ir::cursor(p_, f, ir::function::body);
  }
  value_list arguments(ir::cursor& c) const {
    value_list all;
    for (std::uint32_t k = 0; k <= memory_.size(); ++k) all.push_back(c->argument(ir::function::body, k));
    return all;
  }
  value_id initial_array(ir::cursor& c, std::size_t k) const {
    element_type const& cell = layout_.cells[k];
    std::uint64_t const count = layout_.end / cell.bytes();
    std::map<std::uint64_t, std::uint64_t> values = layout_.values[k];
    if (k == 0) {
      values[end_word] = layout_.end;
      values[last_word] = 0;
    }
    if (values.empty())
      return c.add(
          op::fill, number(c, static_cast<std::int64_t>(count)), c.literal(cell.type, unset_bits(cell)));
    value_list elements;
    for (std::uint64_t i = 0; i < count; ++i) {
      auto const at = values.find(i);
      elements.push_back(c.literal(cell.type, at == values.end() ? unset_bits(cell) : at->second));
    }
    return c->result(c.insert(op::array, elements));
  }

  // Marks a block as released, and frees the released blocks at the end.
  value_list released(ir::cursor& c, value_list memory, value_id address) const {
    auto const is_live = [&](value_id words, value_id block) {
      return c.add(op::at, words, c.add(op::sub, c.add(op::shift_right, block, number(c, 3)), number(c, 1)));
    };
    check(
        c, c.add(op::eq, is_live(memory[0], address), number(c, 1)),
        "memory is released that is not allocated");
    memory[0] = c.add(
        op::update, memory[0], c.add(op::sub, c.add(op::shift_right, address, number(c, 3)), number(c, 1)),
        number(c, 0));
    auto const ends_free = [&](value_list const& now) {
      value_id const last = word(c, now[0], last_word);
      return ir::builder(c)
          .if_(
              c.add(op::eq, last, number(c, 0)), [&] { return value_list{c.literal(false)}; },
              [&] { return value_list{c.add(op::eq, is_live(now[0], last), number(c, 0))}; })
          .result();
    };
    return ir::builder(c)
        .while_(memory, ends_free, [&](value_list const& now) { return without_last(c, now); })
        .results;
  }
  value_list without_last(ir::cursor& c, value_list now) const {
    value_id const end = word(c, now[0], end_word), last = word(c, now[0], last_word);
    value_id const begin = c.add(op::sub, last, number(c, block_alignment));
    value_id const before = c.add(op::at, now[0], c.add(op::shift_right, begin, number(c, 3)));
    for (std::size_t k = 0; k < now.size(); ++k) {
      element_type const& cell = layout_.cells[k];
      value_id const first = c.add(op::shift_right, begin, shift(c, cell));
      value_id const count = c.add(op::sub, c.add(op::shift_right, end, shift(c, cell)), first);
      value_id const unset = c.literal(cell.type, unset_bits(cell));
      now[k] = ir::builder(c)
                   .loop(
                       count, {now[k]},
                       [&](value_id i, value_list const& carried) {
                         return c.add(op::update, carried[0], c.add(op::add, first, i), unset);
                       })
                   .result();
    }
    now[0] = c.add(op::update, now[0], number(c, end_word), begin);
    now[0] = c.add(op::update, now[0], number(c, last_word), before);
    return now;
  }

  ir::program& p_;
  linear_layout const& layout_;
  std::vector<ir::type> memory_;
};

} // namespace

void add_allocator(ir::program& p, linear_layout const& layout, module_plan& plan) {
  allocator_writer writer(p, layout);
  plan.initial = writer.initial();
  plan.allocate = writer.allocate();
  plan.release = writer.release();
}

} // namespace overdub::lifting
