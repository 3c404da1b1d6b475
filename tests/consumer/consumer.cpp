// What a user's first program includes.
#include <overdub/models/choices.hpp> // whose functions are in a file of their own
#include <overdub/overdub.hpp>

int main() {
  if (overdub::models::text_of(overdub::models::address("x[1]")) != "x[1]") return 1;
  return OVERDUB_VERSION_MAJOR + OVERDUB_VERSION_MINOR + OVERDUB_VERSION_PATCH > 0 ? 0 : 1;
}
