// The requirements on the compiler and its flags. Each header of overdub includes this one before all others, so that a unit that does not
// meet a requirement is rejected with one message. The include after each #error names a missing file, which is a fatal error: otherwise
// the compiler would continue with headers that it cannot parse.
#pragma once

#if !defined(__GNUC__)
#error "overdub: this compiler is not supported; use g++ 11 or newer, or clang 16 or newer"
#include <overdub: the error above ends this compilation>
#elif !defined(__cplusplus) || __cplusplus < 202002L
#error "overdub: this unit is compiled for a language older than C++20; add -std=c++20 or -std=c++23"
#include <overdub: the error above ends this compilation>
#elif defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 16
#error "overdub: this clang is too old; use clang 16 or newer, or g++ 11 or newer"
#include <overdub: the error above ends this compilation>
#elif !defined(__clang__) && __GNUC__ < 11
#error "overdub: this g++ is too old; use g++ 11 or newer, or clang 16 or newer"
#include <overdub: the error above ends this compilation>
#elif !defined(__cpp_exceptions)
#error "overdub: this unit is compiled with -fno-exceptions; overdub reports errors by exceptions: compile it with -fexceptions"
#include <overdub: the error above ends this compilation>
#endif
