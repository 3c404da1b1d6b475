// Arbitrary bytes: the parser rejects them, or returns a program that its printed text parses to; and the verifier accepts any program.
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace overdub::ir;

void check(bool holds, char const* law, std::string const& printed) {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s", law, printed.c_str());
  std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  program p;
  try {
    p = parse(std::string_view(reinterpret_cast<char const*>(data), size));
  } catch (parse_error const& e) {
    check(!e.diagnostics.empty(), "an error without a diagnostic", "");
    return 0;
  }
  std::string const printed = print(p, {.places = true});
  program const q = parse(printed); // an exception is a failure
  check(p == q, "the parsed text is another program", printed);
  check(print(q, {.places = true}) == printed, "the parsed program has another text", printed);
  check(faults_of(q).size() == faults_of(p).size(), "the parsed program has other faults", printed);
  return 0;
}
