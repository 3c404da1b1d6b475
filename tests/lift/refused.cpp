// What is refused has a construct, a place, a reason and an advice; untrusted bytes are refused without a crash.
#include "catch.hpp"
#include "leaks.hpp"

#include <overdub/lift.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace {

std::string bytes_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string reason(std::string_view module) {
  try {
    (void)overdub::lift(module);
  } catch (overdub::lift_error const& e) {
    return e.what();
  }
  return "lifted";
}

} // namespace

TEST_CASE("refused functions are explained") {
  std::string text;
  for (overdub::refused_function f : overdub::lift_file(OVERDUB_LIFT_REFUSED).refused) {
    f.file = f.file.substr(f.file.rfind('/') + 1);
    text += text_of(f) + '\n';
  }
  std::string const path = "tests/lift/refused.txt";
  char const* const bless = std::getenv("OVERDUB_BLESS");
  if (bless && std::string_view(bless) == "1") std::ofstream(path, std::ios::binary) << text;
  CHECK(text == bytes_of(path));
}
TEST_CASE("bytes that are no module are refused") {
  CHECK(reason("").starts_with("overdub: the bytes are not a module of LLVM that can be lifted: "));
  CHECK(reason("func @f() {").find("line 1: ") != std::string::npos);
  CHECK(reason(std::string(100, '\0')).starts_with("overdub: "));
  CHECK(reason("define double @f() {\n  ret double 1.0\n}\n") == "lifted");
  CHECK(reason("define double @f() {\n  ret float 1.0\n}\n").find("line 2: ") != std::string::npos);
  CHECK(reason("target datalayout = \"E-p:64:64\"\n").find("little-endian") != std::string::npos);
  CHECK_THROWS_AS(overdub::lift("define void @f() {\n  ret void\n}\n", {.bytes = 5}), overdub::lift_error);
  CHECK_THROWS_AS(overdub::lift_file("/there/is/no/such/file"), overdub::lift_error);
}
TEST_CASE("limits are limits of one function") {
  std::string text = "define i64 @long(i64 %x) {\n";
  for (int i = 0; i < 20; ++i)
    text += "  br label %b" + std::to_string(i) + "\nb" + std::to_string(i) + ":\n";
  text += "  ret i64 %x\n}\ndefine i64 @short(i64 %x) {\n  ret i64 %x\n}\n";
  overdub::lift_result const r = overdub::lift(text, {.blocks = 10});
  REQUIRE(r.refused.size() == 1);
  CHECK(
      text_of(r.refused[0]) == "long: more than 10 blocks: it exceeds a limit of the lifter; divide the "
                               "function, or raise the limits of lift_options");
  CHECK(r.program.find("short"));
}
TEST_CASE("a long chain of pointers is lifted in time and stack that grow with its length") {
  constexpr int statements = 10'000; // *p++ = 1.0;
  std::string text = "define void @chain(ptr %p0) {\n";
  for (int i = 0; i < statements; ++i)
    text += "  store double 1.0, ptr %p" + std::to_string(i) + "\n  %p" + std::to_string(i + 1) +
            " = getelementptr double, ptr %p" + std::to_string(i) + ", i64 1\n";
  overdub::lift_result const r = overdub::lift(text + "  ret void\n}\n");
  CHECK(r.refused.empty());
  CHECK(r.program.find("chain"));
}
TEST_CASE("damaged modules are refused or lifted, and do not crash") {
  no_leaks const leaks; // LLVM's reader does not free everything where it fails
  std::mt19937 random(1);
  for (std::string const path : {OVERDUB_LIFT_REFUSED, OVERDUB_LIFT_FUNCTIONS, OVERDUB_LIFT_OBJECTS}) {
    std::string const whole = bytes_of(path);
    for (int i = 0; i < OVERDUB_LIFT_DAMAGED / 2; ++i)
      (void)reason(std::string_view(whole).substr(0, random() % whole.size()));
    for (int i = 0; i < OVERDUB_LIFT_DAMAGED; ++i) {
      std::string damaged = whole;
      for (int k = 0; k < 1 + i % 4; ++k)
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      (void)reason(damaged);
    }
  }
  SUCCEED();
}

TEST_CASE("a recursive function is not inlined into its callers, again and again") {
  overdub::lift_result const r = overdub::lift(R"(
define double @product(ptr %x, i64 %n) {
entry:
  %ends = icmp eq i64 %n, 0
  br i1 %ends, label %end, label %more
more:
  %first = load double, ptr %x, align 8
  %rest = getelementptr double, ptr %x, i64 1
  %fewer = sub i64 %n, 1
  %product = call double @product(ptr %rest, i64 %fewer)
  %y = fmul double %first, %product
  ret double %y
end:
  ret double 1.0
}
define double @product_of_rest(ptr %x, i64 %n) {
  %rest = getelementptr double, ptr %x, i64 1
  %y = call double @product(ptr %rest, i64 %n)
  ret double %y
}
)");
  auto const found = r.program.find("product_of_rest");
  REQUIRE(found);
  overdub::ir::function const& caller = r.program[*found];
  std::size_t calls = 0, branches = 0;
  for (std::uint32_t n = 0; n < caller.node_count(); ++n) {
    overdub::ir::op const code = caller[overdub::ir::node_id(n)].code;
    calls += code == overdub::ir::op::call;
    branches += code == overdub::ir::op::if_;
  }
  CHECK(calls == 1);
  CHECK(branches == 0);
}
