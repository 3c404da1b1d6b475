// deferred_effects calls native functions later, and a symbol does not refer to one.
// expect: overdub: deferred_effects calls native functions later, and a symbol has none; name the function by its type
#include <overdub/contexts/slice.hpp>

inline constexpr auto note = overdub::leaf<"note">([](double) {});

#ifdef OVERDUB_MENDED
overdub::contexts::deferred_effects<decltype(note)> later;
#else
overdub::contexts::deferred_effects<decltype(overdub::symbol<"note">)> later;
#endif
