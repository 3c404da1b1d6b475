// Prints the layers with wrong results, and returns their number.
#include "layers.hpp"

#include <cstdio>
#include <exception>

namespace {
int failures_of(char const* layer, bool (*is_right)()) {
  try {
    if (is_right()) return 0;
    std::printf("%s: a value is wrong\n", layer);
  } catch (std::exception const& e) {
    std::printf("%s: %s\n", layer, e.what());
  }
  return 1;
}
} // namespace

int main() {
  return failures_of("direct", direct_is_right) + failures_of("staged", staged_is_right) +
         failures_of("compiled", compiled_is_right) + failures_of("incremental", incremental_is_right) +
         failures_of("model", model_is_right);
}
