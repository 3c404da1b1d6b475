// What is known of sizes and indices by looking at where they come from: operations that cannot fail are pure.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/function.hpp>

#include <cstdint>

namespace overdub::ir {

/// Whether a value is an index of the loop or map that it belongs to: 0, 1, ... below that operation's first operand.
OVERDUB_DECL bool is_index(function const& f, value_id v);

/// Whether an i64 is surely a size: not negative, and no literal that is larger than memory.
OVERDUB_DECL bool is_size(function const& f, value_id v);

/// An array of the same length, a few updates earlier. O(1).
OVERDUB_DECL value_id before_updates(function const& f, value_id array);

/// The value that is an array's length, if there is one. O(1).
OVERDUB_DECL value_id length_of(function const& f, value_id array);

/// Whether an index is surely in the range of an array's leading axis. O(operands of a length).
OVERDUB_DECL bool is_in_range(function const& f, value_id array, value_id i);

} // namespace overdub::ir

#if OVERDUB_HEADER_ONLY
#include <overdub/ir/bounds.ipp>
#endif
