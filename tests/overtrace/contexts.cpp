// Spans of a context and of instrumented code, in one recording: of the environment, or of the program, if it has an argument.
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>
#include <optional>

double native(double x) { return x + 1; }
inline constexpr auto named = overdub::leaf<"named">([](double x) { return native(x); });

[[gnu::no_instrument_function]] int main(int count, char**) {
  std::optional<overdub::contexts::recording> own;
  if (count > 1) own.emplace();
  std::printf("%g\n", overdub::run(overdub::contexts::trace{}, named, 2.0));
  if (own) std::printf("%ld records\n", static_cast<long>(own->statistics().records));
}
