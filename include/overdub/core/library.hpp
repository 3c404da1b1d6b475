// A unit that includes this header needs overdub's library: functions that are no templates are declared in headers, and defined in sources.
// A program links the library, or includes the sources in one of its own units (<overdub/implementation/...>).
#pragma once

#include <overdub/core/requirements.hpp>

#include <version>

// Containers must have the same layout in the library and in the program. A unit that uses another standard library, or its debug mode, does
// not link, and neither does a program without the library: the name of the missing function says what to do.
#if defined(_LIBCPP_VERSION)
#define OVERDUB_LIBRARY link_overdub_or_include_its_implementation_in_one_unit__compiled_with_libcxx
#elif defined(_GLIBCXX_DEBUG)
#define OVERDUB_LIBRARY link_overdub_or_include_its_implementation_in_one_unit__compiled_with_GLIBCXX_DEBUG
#else
#define OVERDUB_LIBRARY link_overdub_or_include_its_implementation_in_one_unit__compiled_with_libstdcxx
#endif
namespace overdub::detail {
// A function, since AddressSanitizer rejects a variable that two copies of the library define.
void OVERDUB_LIBRARY() noexcept;
[[gnu::used, gnu::visibility("hidden")]] inline void (*const needed_library)() noexcept = &OVERDUB_LIBRARY;
} // namespace overdub::detail
