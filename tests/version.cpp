#include "catch.hpp"

#include <overdub/version.hpp>

#include <string>

TEST_CASE("the version macros agree with the version of the CMake project") {
  auto const macros = std::to_string(OVERDUB_VERSION_MAJOR) + "." + std::to_string(OVERDUB_VERSION_MINOR) +
                      "." + std::to_string(OVERDUB_VERSION_PATCH);
  CHECK(macros == OVERDUB_CMAKE_VERSION);
}
