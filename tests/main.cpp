// The main function of every Catch2 program: Catch2 2 has it in its header, Catch2 3 in a library that is
// linked.
#define CATCH_CONFIG_MAIN
#include "catch.hpp"
