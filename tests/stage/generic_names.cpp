// Programs are evaluated in contexts of a namespace with templates that match every call. A call inside of overdub that argument-dependent
// lookup resolved to one of them would not compile.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/evaluate.hpp>

#include <vector>

namespace od = overdub;

namespace generic_names {

#define MATCHES_EVERY_CALL(name)                                                                             \
  template <class... A>                                                                                      \
  void name(A&&...) = delete;
MATCHES_EVERY_CALL(append_slots)
MATCHES_EVERY_CALL(as_slots)
MATCHES_EVERY_CALL(attributes_in)
MATCHES_EVERY_CALL(cell_as)
MATCHES_EVERY_CALL(check_rows)
MATCHES_EVERY_CALL(condition_of)
MATCHES_EVERY_CALL(copy_operation)
MATCHES_EVERY_CALL(evaluate_on_array)
MATCHES_EVERY_CALL(filled)
MATCHES_EVERY_CALL(host_of)
MATCHES_EVERY_CALL(in_form)
MATCHES_EVERY_CALL(leaves_of)
MATCHES_EVERY_CALL(opened)
MATCHES_EVERY_CALL(prototype)
MATCHES_EVERY_CALL(run_function)
MATCHES_EVERY_CALL(run_region)
MATCHES_EVERY_CALL(run_region_on)
MATCHES_EVERY_CALL(set_arrays)
MATCHES_EVERY_CALL(set_outputs)
MATCHES_EVERY_CALL(set_results)
MATCHES_EVERY_CALL(slots_of)
MATCHES_EVERY_CALL(stage_call)
MATCHES_EVERY_CALL(stage_on_array)
MATCHES_EVERY_CALL(symbol_at)
MATCHES_EVERY_CALL(symbol_of)
MATCHES_EVERY_CALL(symbols_of)
MATCHES_EVERY_CALL(types_at)
MATCHES_EVERY_CALL(updated)
#undef MATCHES_EVERY_CALL

struct seen : od::context {
  long calls = 0;
  void before(od::callee auto, auto const&...) { ++calls; }
};
struct doubled : od::context {
  auto overdub(od::sin_t, auto x) { return 2.0 * x; }
};

constexpr auto with_loops = od::fn<"with_loops">([](auto const& xs, auto y) {
  auto const all = od::map([](auto x) { return od::sin(x); }, xs);
  auto const total = od::loop(od::size(all), y, [&](auto i, auto s) { return s + od::at(all, i); });
  return od::while_(
      total, [](auto s) { return s > 10.0; }, [](auto s) { return s / 2.0; });
});

} // namespace generic_names

TEST_CASE("templates in the namespace of a context do not affect the evaluation of programs") {
  od::ir::program const staged =
      od::stage(generic_names::with_loops, od::signature<od::array<double>, double>);
  auto const xs = od::array<double>::copy_of(std::vector<double>{1.0, 2.0, 3.0});
  generic_names::doubled c;
  od::ir::program const rewritten = od::overdub(c, staged);
  CHECK(od::executable(rewritten).call<double>(xs, 1.0) == 6.5);
  generic_names::seen observer;
  CHECK(od::run(od::compose(generic_names::doubled{}, observer), generic_names::with_loops, xs, 1.0) == 6.5);
  CHECK(observer.calls > 0);
}
