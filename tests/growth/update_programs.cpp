// The growth law of update programs: the work of writing one is linear in the number of operations, and it is written once, whichever
// values are saved.
#include "catch.hpp"
#include "growth/check_each.hpp"

#include <overdub/incremental/make_update_program.hpp>
#include <overdub/ir/parse.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace {

namespace od = overdub;
using growth::work_of;
using i64 = std::int64_t;
using od::increments::change_signature;
using od::increments::input_change;

constexpr input_change same{}, whole{.whole = true}, element{.elements = 1, .indices = 1};

// `each` for the operations 0, ..., n - 1, where # is the number of an operation, and @ that of the one before.
std::string repeated(std::string const& each, i64 n) {
  std::string all;
  for (i64 i = 1; i <= n; ++i)
    for (char const c : each)
      all += c == '#' ? std::to_string(i) : c == '@' ? std::to_string(i - 1) : std::string(1, c);
  return all;
}

// The values %u are unchanged if %x changes, and are needed for the new %s.
std::string chain(i64 n) {
  return "entry @f\nfunc @f(%x: f64, %u0: f64) -> f64 {\n  %s0 = mul %x, %u0 : f64\n" +
         repeated("  %u# = exp %u@ : f64\n  %s# = mul %s@, %u# : f64\n", n) + "  return %s" +
         std::to_string(n) + "\n}";
}
// The same in a map, where sums are saved for each iteration.
std::string map(i64 n) {
  return "entry @f\nfunc @f(%x: f64[], %w: f64[], %c: f64) -> f64[] {\n  %n = length %x : i64\n"
         "  %y = map %n (%i: i64) -> f64 {\n    %e = at %x, %i : f64\n    %s0 = mul %e, %c : f64\n" +
         repeated("    %u# = reduce add %w from 0.0 : f64\n    %s# = mul %s@, %u# : f64\n", n) +
         "    yield %s" + std::to_string(n) + "\n  }\n  return %y\n}";
}

// The work of writing the last of several update programs: with the values alone that the earlier ones save, and again.
struct works {
  double first, again;
};
works work_of_writing(std::string const& text, std::initializer_list<change_signature> all) {
  od::ir::program const p = od::ir::parse(text);
  od::increments::layout saved(p[p.entry]);
  works of{};
  for (change_signature const& changes : all)
    of.first = work_of([&] { (void)od::increments::make_update_program(p, p.entry, saved, changes); });
  of.again = work_of([&] { (void)od::increments::make_update_program(p, p.entry, saved, *(all.end() - 1)); });
  return of;
}
void check_writing(
    char const* what, std::string (*text)(i64), std::initializer_list<change_signature> changes) {
  works const small = work_of_writing(text(growth::few), changes),
              medium = work_of_writing(text(growth::some), changes),
              large = work_of_writing(text(growth::many), changes);
  growth::check_each(what, small.first, medium.first, large.first);
  INFO(
      what << ": " << large.first << " blocks, and " << large.again << " where all values are saved already");
  CHECK(large.first <= 1.1 * large.again);
}

} // namespace

TEST_CASE(
    "the work of writing an update program is linear in the number of operations, and done once",
    "[updates]") {
  check_writing("a value that is saved, and an operation that needs it", chain, {{whole, same}});
  check_writing("the same in an iteration", map, {{element, same, same}});
  check_writing(
      "a value of all iterations that a commit writes", map, {{element, same, same}, {same, same, whole}});
}
