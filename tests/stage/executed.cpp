// An executable of a staged program computes what the C++ function computes, to the bit.
#include "functions.hpp"
#include "results.hpp"

#include <overdub/execute/interpreter.hpp>

namespace {

using namespace overdub;

template <class T>
std::vector<datum> data_of(std::vector<T> const& leaves) {
  std::vector<datum> all;
  for (auto const& x : leaves) all.push_back(x.visit([](auto const& held) { return datum(held); }));
  return all;
}
struct outcome {
  std::vector<datum> data;
  std::string thrown;
  bool operator==(outcome const&) const = default;
};

template <class F, class... A>
void same_as_native(functions::item<F, A...> const& each) {
  INFO(F::name());
  executable const run(stage(each.f, each.arguments));
  property([&] {
    std::tuple<A...> const arguments{results::argument<A>()...};
    std::apply(
        [&](auto const&... a) {
          auto const native = results::outcome_of([&] { return each.f(a...); });
          outcome executed;
          try {
            std::vector<datum> const given{datum(a)...};
            executed.data = run.run(given);
          } catch (std::exception const& e) {
            executed.thrown = typeid(e).name();
          }
          RC_ASSERT((outcome{data_of(native.leaves), native.thrown} == executed));
        },
        arguments);
  });
}

} // namespace

TEST_CASE("an executable of a staged program gives what the C++ function gives, on random numbers") {
  std::apply([](auto const&... each) { (same_as_native(each), ...); }, functions::all);
}
