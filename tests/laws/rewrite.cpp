// Rewriting a program in a context gives the program that staging in the context gives.
#include "catch.hpp"
#include "functions.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>

namespace {

using namespace overdub;

template <class Context, class F, class... A>
void same_program(Context context, functions::item<F, A...> const& each) {
  ir::program const staged = stage(context, each.f, each.arguments);
  ir::program const rewritten = overdub::overdub(context, stage(each.f, each.arguments));
  INFO(F::name());
  CHECK(ir::print(rewritten) == ir::print(staged));
  CHECK(rewritten == staged);
}

} // namespace

TEST_CASE("rewriting a program under forward equals staging C++ under forward") {
  std::apply([](auto const&... each) { (same_program(contexts::forward{}, each), ...); }, functions::all);
}
