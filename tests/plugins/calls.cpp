// A plugin whose calls contexts of the host trace, count, profile and memoize, or its recording records.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/memoize.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

#include <cstddef>
#include <span>

namespace od = overdub;
namespace contexts = overdub::contexts;

#define OVERDUB_TEXT_OF(X) #X
#define OVERDUB_NAMED(NAME, FACTOR) NAME OVERDUB_TEXT_OF(FACTOR)

inline constexpr auto loss = od::fn<"loss">([](auto x) { return x * x * FACTOR; });
// A name that only this plugin has, in its own memory.
inline constexpr auto own = od::fn<OVERDUB_NAMED("own ", FACTOR)>([](auto x) { return loss(x); });

#pragma GCC visibility push(default) // also with -fvisibility=hidden
extern "C" {
double traced(double x) { return od::run(contexts::trace{}, own, x); }
double trace_counted(double x) { return od::run(contexts::trace_with<contexts::tracing::counts>{}, own, x); }
double count(void* each, double x) { return od::run(*static_cast<contexts::count_each*>(each), own, x); }
double profile(void* all, double x) { return od::run(*static_cast<contexts::profile*>(all), own, x); }
double memoize(void* known, double x) { return od::run(*static_cast<contexts::memoize*>(known), loss, x); }
double at(double* numbers, long size, long index) {
  return od::array<double>::borrow(std::span<double const>(numbers, static_cast<std::size_t>(size)))[index];
}
}
#pragma GCC visibility pop
