// The application of plain.hpp, instrumented by flags of the compiler.
#pragma once

double instrumented_total(int options, int steps);
