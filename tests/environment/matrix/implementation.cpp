// The sources of the library, in one unit of the program.
#define OVERDUB_IMPLEMENTATION
#include <overdub/implementation/all.hpp>
