// Derives facts about sizes and indices from their definitions. An operation that cannot fail according to these facts is pure.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/function.hpp>

#include <cstdint>

namespace overdub::ir {

/// Whether an i64 is known to be the size of an array: not negative, and no literal above 2^32.
bool is_size(function const& f, value_id v);

/// An array of the same length, before a chain of updates. O(1).
value_id before_updates(function const& f, value_id array);

/// The value that is known to be an array's length, if there is one. O(1).
value_id length_of(function const& f, value_id array);

/// Whether a number is known to be an array's length: by the operation that made the array, or since the number is a `length` of it, or of
/// another version of it. O(operands of a length).
bool is_length_of(function const& f, value_id number, value_id array);

/// Whether an index is known to be in bounds of an array's leading axis. O(operands of a length).
bool is_in_range(function const& f, value_id array, value_id i);

} // namespace overdub::ir
