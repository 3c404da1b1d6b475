extern "C" double from_plugin(double x) { return 3 * x; }
