// Spans of a context and of instrumented code, in one recording of the environment.
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>

double native(double x) { return x + 1; }
inline constexpr auto named = overdub::leaf<"named">([](double x) { return native(x); });

int main() { std::printf("%g\n", overdub::run(overdub::contexts::trace{}, named, 2.0)); }
