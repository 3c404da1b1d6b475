// Calls with plain arguments in a program with ambient contexts, against a plain function: 100 calls, which are not inlined.
#define OVERDUB_AMBIENT 1
#include "ratio.hpp"

#include <overdub/ambient.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

namespace {

constexpr int calls = 100;

[[gnu::noinline]] double grow(double x) {
  asm volatile("");
  return x * 1.0001;
}
inline constexpr auto named = overdub::fn<"grow">([](double x) { return grow(x); });
inline constexpr auto native = overdub::leaf<"grow">([](double x) { return grow(x); });

[[gnu::noinline]] double by_hand() {
  double x = bench::opaque(1.0);
  for (int i = 0; i < calls; ++i) x = grow(x);
  return x;
}
[[gnu::noinline]] double by_name() {
  double x = bench::opaque(1.0);
  for (int i = 0; i < calls; ++i) x = named(x);
  return x;
}
[[gnu::noinline]] double by_leaf() {
  double x = bench::opaque(1.0);
  for (int i = 0; i < calls; ++i) x = native(x);
  return x;
}

} // namespace

int main() {
  overdub::contexts::count count;
  overdub::contexts::profile profile;
  bench::compare(
      "100 calls of a function",       //
      bench::way{"plain", 0, by_hand}, //
      bench::way{"built in, no ambient context", 0, by_name},
      bench::way{"of a leaf, built in, no ambient context", 0, by_leaf},
      bench::way{
          "a trace without a recording", 0,
          [] {
            overdub::ambient const with(overdub::contexts::trace{});
            return by_name();
          }},
      bench::way{
          "count", 0,
          [&] {
            overdub::ambient const with(count);
            return by_name();
          }},
      bench::way{"profile", 0, [&] {
                   overdub::ambient const with(profile);
                   return by_name();
                 }});
  overdub::contexts::recording const recording;
  bench::compare(
      "100 calls of a function, while a recording is active", //
      bench::way{"plain", 0, by_hand},                        //
      bench::way{"trace", 0, [] {
                   overdub::ambient const with(overdub::contexts::trace{});
                   return by_name();
                 }});
}
