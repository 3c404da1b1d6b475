// The class linear_memory, which users fill with objects.
#include "linear_memory.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/lift.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace overdub {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;

std::uint64_t unset(memory_array const& a) { return lifting::unset_bits({a.element, a.bits}); }

template <class T>
std::vector<std::uint64_t> bits_of(datum const& d) {
  std::vector<std::uint64_t> all;
  for (T const x : d.elements<T>()) all.push_back(datum(x).bits());
  return all;
}
template <class T>
datum datum_of(std::vector<std::uint64_t> const& bits) {
  std::vector<T> all;
  for (std::uint64_t const x : bits) {
    if constexpr (std::is_same_v<T, float>)
      all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(x)));
    else
      all.push_back(std::bit_cast<T>(x));
  }
  return datum(all);
}

} // namespace

linear_memory::linear_memory(lift_result const& lifted) : types_(lifted.memory) {
  auto const initial = lifted.program.find("initial linear memory");
  if (types_.empty() || !initial)
    throw argument_error(
        message("overdub: no function of the module is in linear memory; its functions take arrays"));
  assign(executable(lifted.program, *initial).run(std::vector<datum>()));
}

void linear_memory::assign(std::span<datum const> arrays) {
  std::vector<std::vector<std::uint64_t>> cells;
  if (arrays.size() != types_.size())
    throw argument_error(message(
        "overdub: linear memory has %zu arrays, and there are %zu; pass the last results of a function in "
        "memory",
        types_.size(), arrays.size()));
  for (std::size_t k = 0; k < types_.size(); ++k) {
    if (arrays[k].type() != types_[k].element.array_of())
      throw argument_error(message(
          "overdub: array %zu of linear memory has another type; pass the last results of a "
          "function in memory",
          k));
    cells.push_back(
        types_[k].element == ir::f64   ? bits_of<double>(arrays[k])
        : types_[k].element == ir::f32 ? bits_of<float>(arrays[k])
                                       : bits_of<i64>(arrays[k]));
  }
  cells_ = std::move(cells);
}

std::int64_t linear_memory::allocate(std::size_t bytes) {
  using namespace lifting;
  if (bytes >= most_bytes)
    throw size_error(message("overdub: a block of linear memory has less than 2^40 bytes"));
  std::vector<std::uint64_t>& words = cells_[0];
  std::uint64_t const end = words[end_word], address = end + block_alignment;
  std::uint64_t const next = address + (bytes + block_alignment - 1) / block_alignment * block_alignment;
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    std::size_t const count = next * 8 / types_[k].bits;
    if (cells_[k].size() < count) cells_[k].resize(std::max(count, 2 * cells_[k].size()), unset(types_[k]));
  }
  words[end / 8] = words[last_word];
  words[end / 8 + 1] = 1;
  words[end_word] = next;
  words[last_word] = address;
  return static_cast<std::int64_t>(address);
}

std::size_t linear_memory::cell(memory_array const& a, std::int64_t address) const {
  auto const at = std::ranges::find(types_, a);
  std::int64_t const size = a.bits / 8;
  if (at == types_.end())
    throw argument_error(message(
        "overdub: no function of the module accesses numbers of %u bits of this type in memory", a.bits));
  if (address % size != 0)
    throw argument_error(message(
        "overdub: the address %lld is not a multiple of %lld", static_cast<long long>(address),
        static_cast<long long>(size)));
  auto const k = static_cast<std::size_t>(at - types_.begin());
  if (address <= 0 || static_cast<std::uint64_t>(address / size) >= cells_[k].size())
    throw index_error(message("overdub: the address %lld is not allocated", static_cast<long long>(address)));
  return k;
}
void linear_memory::write_bits(memory_array const& a, std::int64_t address, std::uint64_t bits) {
  std::size_t const k = cell(a, address);
  cells_[k][static_cast<std::uint64_t>(address) * 8 / a.bits] = bits;
  for (std::size_t other = 0; other < types_.size(); ++other) {
    memory_array const& b = types_[other];
    if (b.element != ir::i64 || b == a) continue;
    std::uint64_t const first = static_cast<std::uint64_t>(address) * 8 / b.bits;
    for (std::uint64_t n = 0; n < std::max(a.bits / b.bits, 1u); ++n)
      cells_[other][first + n] = a.bits == b.bits ? lifting::floating_mark : lifting::unset_integer;
  }
}
std::uint64_t linear_memory::read_bits(memory_array const& a, std::int64_t address) const {
  return cells_[cell(a, address)][static_cast<std::uint64_t>(address) * 8 / a.bits];
}

std::vector<datum> linear_memory::arrays() const {
  std::vector<datum> all;
  for (std::size_t k = 0; k < types_.size(); ++k)
    all.push_back(
        types_[k].element == ir::f64   ? datum_of<double>(cells_[k])
        : types_[k].element == ir::f32 ? datum_of<float>(cells_[k])
                                       : datum_of<i64>(cells_[k]));
  return all;
}

} // namespace overdub
