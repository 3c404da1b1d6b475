#include "instrumented.hpp"

#define value_at_root instrumented_value_at_root
#include "tree.cpp"
#define APPLICATION instrumented
#include "plain.hpp"

double instrumented_total(int options, int steps) {
  instrumented::portfolio const all(options);
  return all.total(instrumented::pricer({100, 0.02, 0.2}, steps)).first;
}
