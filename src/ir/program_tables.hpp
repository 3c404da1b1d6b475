// The interned texts and types of a program. Only code that edits or verifies programs includes this.
#pragma once

#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tsl/robin_map.h>

namespace overdub::ir::detail {

struct type_hash {
  std::size_t operator()(symbol s) const { return index_of(s); }
  std::size_t operator()(signature const& s) const;
};
/// Interned texts, function types and opaque types, with their indices.
struct program_tables {
  tsl::robin_map<std::string, symbol> texts;
  tsl::robin_map<signature, std::uint16_t, type_hash> signatures;
  tsl::robin_map<symbol, std::uint16_t, type_hash> opaque_types;
};

} // namespace overdub::ir::detail
