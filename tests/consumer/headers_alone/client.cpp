// A unit of a program that includes declarations alone: other units of the program include the implementations.
#include <overdub/compile/compile.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/evaluate.hpp>

namespace od = overdub;

inline constexpr auto half = od::fn<"half">([](auto x) { return 0.5 * x; });
inline constexpr auto sum_of_halves = od::fn<"sum_of_halves">(
    [](auto const& xs) { return od::sum(od::map([](auto x) { return half(x); }, xs)); });
struct doubled : od::context {
  auto overdub(decltype(half), auto x) { return 2.0 * x; }
};

int main() {
  using numbers = od::array<double>;
  numbers const xs{1.0, 2.0, 5.0};
  od::ir::program const p = od::stage(sum_of_halves, od::signature<numbers>);
  doubled context;
  bool const is_right = od::executable(p).call<double>(xs) == 4.0 &&
                        od::compile(context, sum_of_halves, od::signature<numbers>)(xs) == 16.0 &&
                        od::evaluate<double>(od::overdub(context, p), xs) == 16.0;
  auto updated = od::incremental(sum_of_halves, xs);
  updated.set_at<0>(0, 3.0);
  updated.commit();
  return is_right && updated.value() == 5.0 ? 0 : 1;
}
