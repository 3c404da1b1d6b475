// A lifted function takes a struct.
// expect: overdub: lifted<&f> takes a function of numbers and of pointers to numbers; f has another parameter
#include <overdub/lifted.hpp>

struct point {
  double x, y;
};
double length(point p);
double length_of(double x, double y);

#ifdef OVERDUB_MENDED
double run(double x, double y) { return overdub::lifted<&length_of>()(x, y); }
#else
double run(double x, double y) { return overdub::lifted<&length>()(point{x, y}); }
#endif
