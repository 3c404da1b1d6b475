// The derivative of lgamma without the header that computes it.
// expect: overdub: digamma and polygamma .* #include <overdub/special.hpp>
// expect: "log_factorial"
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#ifdef OVERDUB_MENDED
#include <overdub/special.hpp>
#endif

constexpr auto log_factorial = overdub::fn<"log_factorial">([](auto x) { return lgamma(x + 1.0); });

double run(double x) { return overdub::derivative(log_factorial, x); }
