// Whether functions that are not templates are defined in headers, or compiled once, in the library overdub::compiled. All
// translation units of a program must agree: the library's target defines OVERDUB_COMPILED for all targets that link it.
#pragma once

#include <overdub/core/requirements.hpp>

#include <version>

#if defined(OVERDUB_COMPILED)
#define OVERDUB_HEADER_ONLY 0
#define OVERDUB_DECL
// For functions that use state of their own shared object: the library defines them for all that link it.
#define OVERDUB_HIDDEN_IF_INLINE

// Containers must have the same layout in the library and in the program. A translation unit that uses another standard library, or its
// debug mode, does not link: the name of the missing symbol says how the library must be compiled.
#if defined(_LIBCPP_VERSION)
#define OVERDUB_LIBRARY_LAYOUT library_was_compiled_with_libcxx
#elif defined(_GLIBCXX_DEBUG)
#define OVERDUB_LIBRARY_LAYOUT library_was_compiled_with_GLIBCXX_DEBUG
#else
#define OVERDUB_LIBRARY_LAYOUT library_was_compiled_with_libstdcxx
#endif
namespace overdub::detail {
// A function, since AddressSanitizer rejects a variable that two copies of the library define.
void OVERDUB_LIBRARY_LAYOUT() noexcept;
[[gnu::used, gnu::visibility("hidden")]] inline void (*const layout_of_library)() noexcept = &OVERDUB_LIBRARY_LAYOUT;
} // namespace overdub::detail

#else
#define OVERDUB_HEADER_ONLY 1
#define OVERDUB_DECL inline
#define OVERDUB_HIDDEN_IF_INLINE OVERDUB_HIDDEN
#endif
