// Whether what is no template is defined in headers, or compiled once, in the library overdub::compiled. All units of a
// program must agree on it: the library's target defines OVERDUB_COMPILED for all that link it.
#pragma once

#include <overdub/core/requirements.hpp>

#include <version>

#if defined(OVERDUB_COMPILED)
#define OVERDUB_HEADER_ONLY 0
#define OVERDUB_DECL
// For functions that use state of their own shared object: the library defines them for all that link it.
#define OVERDUB_HIDDEN_IF_INLINE

// Containers have one layout in the library and in the program. A unit with another standard library, or with its debug mode, does not link:
// the name of the missing symbol says what the library would have to be compiled with.
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
