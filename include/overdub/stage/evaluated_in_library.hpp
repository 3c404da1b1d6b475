// The stacks of contexts for which the compiled library evaluates programs, so that other translation units do not instantiate
// tables of all operations for them. A context's header declares its stack; a source in src/ instantiates the evaluation by
// evaluation_in_library.hpp.
#pragma once

#include <overdub/call/stack.hpp>

namespace overdub {

class staging;

namespace detail {

template <class S>
inline constexpr bool evaluated_in_library = false;

using symbols_alone = stack<level<staging, void>>;

template <>
inline constexpr bool evaluated_in_library<stack<>> = true;
template <>
inline constexpr bool evaluated_in_library<symbols_alone> = true;

} // namespace detail
} // namespace overdub
