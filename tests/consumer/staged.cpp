// A unit of a program that links the library.
#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/stage.hpp>

inline constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

int main() {
  overdub::executable const compiled(overdub::stage(square, overdub::signature<double>));
  return compiled.call<double>(3.0) == 9.0 ? 0 : 1;
}
