// What a user's first program includes.
#include <overdub/overdub.hpp>

int main() { return OVERDUB_VERSION_MAJOR + OVERDUB_VERSION_MINOR + OVERDUB_VERSION_PATCH > 0 ? 0 : 1; }
