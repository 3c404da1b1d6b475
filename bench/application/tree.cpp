#include "tree.hpp"

double value_at_root(double* values, int steps, double probability_up, double discount) {
  double const up = discount * probability_up, down = discount * (1 - probability_up);
  for (int step = steps; step > 0; --step)
    for (int i = 0; i < step; ++i) values[i] = up * values[i + 1] + down * values[i];
  return values[0];
}
