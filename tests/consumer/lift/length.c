double add_square(double sum, double x) { return sum + EXTRA * x * x; }
