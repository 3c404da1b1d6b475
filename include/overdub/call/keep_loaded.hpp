// Pins the calling shared object in memory, so that dlclose does not unload it: other objects hold addresses of its functions, names and
// virtual tables.
#pragma once

#include <overdub/core/config.hpp>

#include <dlfcn.h>
#include <string_view>

namespace overdub::detail {

// Weak references, so that statically linked programs need no dynamic loader. They are null there, where nothing can be unloaded.
static decltype(::dladdr) weak_dladdr __attribute__((weakref("dladdr")));
static decltype(::dlopen) weak_dlopen __attribute__((weakref("dlopen")));

/// Pins the shared object that contains this function, by RTLD_NODELETE of dlopen. In the program itself it has no effect. Thread-safe;
/// O(1) after the first call.
OVERDUB_HIDDEN inline void keep_loaded() {
  [[maybe_unused]] static bool const done = [] {
    static constexpr char here{};
    Dl_info object{};
    if (weak_dlopen != nullptr && weak_dladdr != nullptr && weak_dladdr(&here, &object) != 0 &&
        object.dli_fname != nullptr)
      static_cast<void>(weak_dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
    return true;
  }();
}

/// Whether two addresses are in one shared object, or both in the program. True if dladdr is not available.
inline bool are_in_one_object(void const* a, void const* b) {
  Dl_info of_a{}, of_b{};
  if (weak_dladdr == nullptr || weak_dladdr(a, &of_a) == 0 || weak_dladdr(b, &of_b) == 0) return true;
  return of_a.dli_fbase == of_b.dli_fbase;
}

/// Returns the name of a callee, which stays valid until the program ends: the shared object that contains the name is pinned.
template <class F>
OVERDUB_HIDDEN std::string_view kept_name(F const& f) {
  keep_loaded();
  return f.name();
}

} // namespace overdub::detail
