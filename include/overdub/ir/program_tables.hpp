// The tables by which a program finds its texts and types. Only what edits or verifies programs includes this.
#pragma once

#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tsl/robin_map.h>

namespace overdub::ir::detail {

struct type_hash {
  std::size_t operator()(symbol s) const { return index_of(s); }
  OVERDUB_DECL std::size_t operator()(signature const& s) const;
};
/// What a program keeps once: texts, types of functions, and types of opaque objects, with their numbers.
struct program_tables {
  tsl::robin_map<std::string, symbol> texts;
  tsl::robin_map<signature, std::uint16_t, type_hash> signatures;
  tsl::robin_map<symbol, std::uint16_t, type_hash> opaque_types;
};

} // namespace overdub::ir::detail
