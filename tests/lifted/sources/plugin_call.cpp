// Calls a lifted function of the library that it is in.
#include <overdub/lifted.hpp>

extern "C" double from_plugin(double x);
extern "C" bool is_lifted();

bool is_lifted() { return overdub::lifted<&from_plugin>().why_native().empty(); }
