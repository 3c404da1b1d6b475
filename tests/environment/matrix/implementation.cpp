// The sources of the library, in one unit of the program.
#include <overdub/implementation/all.hpp>
