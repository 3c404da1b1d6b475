// The literals of a function, by type and bits. Only code that edits or verifies programs includes this.
#pragma once

#include <overdub/ir/id.hpp>
#include <overdub/ir/type.hpp>

#include <cstddef>
#include <cstdint>
#include <tsl/robin_map.h>

namespace overdub::ir::detail {

struct literal_key {
  type of;
  std::uint64_t bits;
  bool operator==(literal_key const&) const = default;
};
struct literal_hash {
  std::size_t operator()(literal_key const& k) const {
    std::uint64_t const mixed =
        (k.bits ^ (static_cast<std::uint64_t>(k.of.element) << 61)) * 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};
/// The literal values of a function.
struct literal_table : tsl::robin_map<literal_key, value_id, literal_hash> {};

} // namespace overdub::ir::detail
