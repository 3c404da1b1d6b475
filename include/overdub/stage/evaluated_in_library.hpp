// In which contexts the library evaluates programs, so that units which do need not make tables of all operations for them.
// A context's header says it of its own where the library is compiled; the context's .ipp has what evaluation_in_library.hpp
// makes.
#pragma once

#include <overdub/call/stack.hpp>
#include <overdub/header_only.hpp>

namespace overdub {

class staging;

namespace detail {

template <class S>
inline constexpr bool evaluated_in_library = false;

using symbols_alone = stack<level<staging, void>>;

#if !OVERDUB_HEADER_ONLY
template <>
inline constexpr bool evaluated_in_library<stack<>> = true;
template <>
inline constexpr bool evaluated_in_library<symbols_alone> = true;
#endif

} // namespace detail
} // namespace overdub
