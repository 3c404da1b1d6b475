// The "C" locale, in which overdub prints and parses all numbers, independently of the program's locale.
#pragma once

#include <overdub/core/config.hpp>

#include <locale.h>
#include <new>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

namespace overdub::io {

/// A handle of the "C" locale, for functions such as strtod_l. It is never freed. Thread-safe. Throws std::bad_alloc.
OVERDUB_HIDDEN inline ::locale_t c_locale() {
  static ::locale_t const handle = [] {
    ::locale_t const made = ::newlocale(LC_ALL_MASK, "C", ::locale_t{});
    if (made == ::locale_t{}) throw std::bad_alloc();
    return made;
  }();
  return handle;
}

/// Sets the "C" locale for the calling thread during its lifetime: for printf, which has no variant with a locale argument.
class in_c_locale {
public:
  in_c_locale() : before_(::uselocale(c_locale())) {}
  ~in_c_locale() { ::uselocale(before_); }
  in_c_locale(in_c_locale const&) = delete;
  in_c_locale& operator=(in_c_locale const&) = delete;

private:
  ::locale_t before_;
};

} // namespace overdub::io
