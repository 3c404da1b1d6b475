// The text of staged programs: the same under every compiler. OVERDUB_BLESS=1 writes the texts anew.
#include "catch.hpp"
#include "functions.hpp"

#include <overdub/ir/print.hpp>
#include <overdub/stage/stage.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using namespace overdub;

template <class F, class... A>
void same_text(functions::item<F, A...> const& each) {
  std::string const path = "tests/stage/golden/" + std::string(F::name()) +
                           (sizeof...(A) == 1 && (std::is_same_v<A, array<float>> && ...) ? "_f32" : "") +
                           ".od";
  std::string const text = ir::print(stage(each.f, each.arguments));
  if (std::getenv("OVERDUB_BLESS") != nullptr) std::ofstream(path) << text;
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  INFO(path << " has another text; OVERDUB_BLESS=1 writes it anew");
  CHECK(text == golden.str());
}

} // namespace

TEST_CASE("a function is staged to its golden text") {
  std::apply([](auto const&... each) { (same_text(each), ...); }, functions::all);
}
