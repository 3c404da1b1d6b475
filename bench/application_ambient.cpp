// An application, unchanged, against itself whose functions have names for ambient contexts.
#define OVERDUB_AMBIENT 1
#include "application/named.hpp"
#include "ratio.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/trace.hpp>

#define APPLICATION plain
#include "application/plain.hpp"
#undef APPLICATION

namespace od = overdub;

namespace {

constexpr int options = 10, steps = 50;

double plainly() {
  return plain::portfolio(options).total(plain::pricer({bench::opaque(100.0), 0.02, 0.2}, steps)).first;
}
double with_names() {
  return named::portfolio(options).total(named::pricer({bench::opaque(100.0), 0.02, 0.2}, steps)).first;
}

} // namespace

int main() {
  od::contexts::count counted;
  {
    od::ambient const with(counted);
    if (plainly() != with_names()) {
      std::puts("the results differ");
      return 1;
    }
  }
  std::printf("the ambient context count sees %ld calls\n", counted.calls());
  bench::compare(
      "an application with names for ambient contexts", //
      bench::way{"unchanged", 0, plainly},              //
      bench::way{"no ambient context", 0, with_names},  //
      bench::way{
          "count", 0,
          [&] {
            od::ambient const with(counted);
            return with_names();
          }},
      bench::way{"a trace without a recording", 0, [] {
                   od::ambient const with(od::contexts::trace{});
                   return with_names();
                 }});
  overdub::contexts::recording const recording;
  bench::compare(
      "the same, while a recording is active", //
      bench::way{"unchanged", 0, plainly},     //
      bench::way{"trace", 0, [] {
                   od::ambient const with(od::contexts::trace{});
                   return with_names();
                 }});
}
