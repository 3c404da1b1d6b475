#include <overdub/implementation/check/elementary.hpp>

namespace overdub::checking::detail {

reals clipped(reals r, double low, double high) { return meet(r, reals::of(low, high, true)); }

} // namespace overdub::checking::detail
