// A program that is compiled with the installed library.
#include <overdub/ir/parse.hpp>
#include <overdub/jit/jit.hpp>

int main() {
  auto const p = overdub::ir::parse(R"(entry @twice
func @twice(%x: f64) -> f64 { %y = add %x, %x : f64 return %y })");
  return overdub::jit::compile(p).call<double>(1.5) == 3.0 ? 0 : 1;
}
