// Contexts that are for native functions refuse programs that call these: they do not see the calls.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/contexts/slice.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/evaluate.hpp>

#include <string>

namespace {

using namespace overdub;

double printed = 0;
inline constexpr auto print = leaf<"print">([](double x) { printed += x; });
inline constexpr auto lookup = leaf<"lookup">([](double x) { return x + 1.0; }, effects::pure);
inline constexpr auto other = leaf<"other">([](double x) { return x; });
inline constexpr auto prints = fn<"prints">([](auto x) {
  print(x);
  return lookup(x);
});

std::string refused(auto&& context) {
  try {
    (void)overdub::overdub(context, stage(prints, signature<double>));
  } catch (evaluation_error const& e) {
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("contexts that are for native functions refuse programs that call them") {
  CHECK(refused(contexts::slice()).find("the native function \"print\"") != std::string::npos);
  CHECK(refused(contexts::mock(lookup, [](auto x) { return x; })).find("\"lookup\"") != std::string::npos);
  CHECK(refused(contexts::fault<>(contexts::nth_call(1))).find("\"print\"") != std::string::npos);
  CHECK(refused(contexts::mock(other, [](auto x) { return x; })).empty());
}
TEST_CASE("contexts that observe all calls go on without native functions of programs") {
  contexts::count count;
  ir::program const p = overdub::overdub(count, stage(prints, signature<double>));
  printed = 0;
  CHECK(executable(p).call<double>(2.0) == 3.0);
  CHECK(printed == 2.0);
}
