// A translation unit of a program whose units have different compiler options.
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>

overdub::i64 UNIT(overdub::i64 n);

overdub::i64 UNIT(overdub::i64 n) {
  overdub::executable const sum(overdub::ir::parse(R"(
    entry @sum
    func @sum(%n: i64) -> i64 {
      %s = loop %n (%i: i64, %u: i64 = 0) -> i64 {
        %t = add %u, %i : i64
        yield %t
      }
      return %s
    })"));
  return sum.call<overdub::i64>(n);
}

#ifdef WITH_MAIN
overdub::i64 unoptimised(overdub::i64 n);

int main() {
  overdub::i64 const n = 100'000, sum = n * (n - 1) / 2;
  return UNIT(n) == sum && unoptimised(n) == sum ? 0 : 1;
}
#endif
