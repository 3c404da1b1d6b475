// A module of random functions of C. CMake lists the modules in random_modules.hpp.
#pragma once

using random_function = double(double, double, int, long, double*, int*);

struct random_module {
  char const* bitcode;
  char const* table; // the functions are called table_0, table_1, ...
  random_function* const* functions;
};
inline constexpr int random_module_size = 100;
