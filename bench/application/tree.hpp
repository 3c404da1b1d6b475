// The numeric part of the application in plain.hpp.
#pragma once

/// The value of an option at the root of a binomial tree, from its values at the leaves, which it overwrites.
double value_at_root(double* values, int steps, double probability_up, double discount);
