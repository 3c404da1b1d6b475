// An application, unchanged, against itself seen in different ways: in explicit contexts, where it is generic; instrumented by the
// compiler; and with its numeric part lifted. application_ambient.cpp has ambient contexts, which all units of a program must share.
#include "application/generic.hpp"
#include "application/instrumented.hpp"
#include "ratio.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/lifted.hpp>

#define APPLICATION plain
#include "application/plain.hpp"
#undef APPLICATION

namespace od = overdub;

namespace lifted {
inline constexpr auto value_at_root =
    od::lifted<&::value_at_root>(od::extent<0>(od::arg<1> + od::elements<1>));
}

namespace {

constexpr int options = 10, steps = 50;

od::contexts::count counted;
struct no_op : od::context {};

} // namespace

// The application whose numeric part runs in `count`: one line is changed.
namespace with_lifted {
inline double value_at_root(double* values, int count, double up, double discount) {
  return od::run(counted, lifted::value_at_root, values, count, up, discount);
}
} // namespace with_lifted
#define APPLICATION with_lifted
#include "application/plain.hpp"
#undef APPLICATION

namespace {

double plainly() {
  return plain::portfolio(options).total(plain::pricer({bench::opaque(100.0), 0.02, 0.2}, steps)).first;
}
double in_parts() {
  return with_lifted::portfolio(options)
      .total(with_lifted::pricer({bench::opaque(100.0), 0.02, 0.2}, steps))
      .first;
}
double in_contexts(auto&& contexts) {
  return od::run(contexts, generic::total<options, steps>, bench::opaque(100.0), 0.02, 0.2);
}
double by_compiler() { return instrumented_total(options, steps); }

} // namespace

int main() {
  if (plainly() != by_compiler() || plainly() != in_contexts(counted) || plainly() != in_parts()) {
    std::puts("the results differ");
    return 1;
  }
  counted = {};
  (void)in_contexts(counted);
  std::printf("in explicit contexts, count sees %ld calls\n", counted.calls());
  bench::compare(
      "an application, and nothing is recorded", //
      bench::way{"unchanged", 0, plainly},       //
      bench::way{"explicit contexts: no_op", 0, [] { return in_contexts(no_op{}); }},
      bench::way{"instrumented", 0, by_compiler});
  bench::compare(
      "the same, in count", //
      bench::way{"unchanged", 0, plainly},
      bench::way{"explicit contexts", 0, [] { return in_contexts(counted); }},
      bench::way{"its numeric part, lifted", 0, in_parts});
  overdub::contexts::recording const recording;
  bench::compare(
      "the same, while a recording is active", //
      bench::way{"unchanged", 0, plainly},     //
      bench::way{"explicit contexts: trace", 0, [] { return in_contexts(od::contexts::trace{}); }},
      bench::way{"instrumented", 0, by_compiler});
}
