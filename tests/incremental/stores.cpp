// What a commit writes: the values that are computed and saved, whichever operation needs their old values, and when.
#include "catch.hpp"

#include <overdub/implementation/incremental/planned_stores.hpp>
#include <overdub/implementation/incremental/update_operations.hpp>
#include <overdub/incremental.hpp>
#include <overdub/incremental/make_update_program.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/overdub.hpp>

#include <string>
#include <string_view>

namespace planned_stores {

using namespace overdub;
using namespace overdub::increments;

// The stores of an update, before their values are carried out of maps, loops and branches. An element of the first parameter changes, or
// all parameters do; the values that the operations of the function need are saved, and those with these names.
inline std::string
planned(std::string_view text, bool changes_all, std::initializer_list<std::string_view> also_saved) {
  ir::program const p = ir::parse(text);
  ir::function const& f = p[p.entry];
  layout saved(f);
  ir::shapes const shapes(f);
  update_code code(p, p.entry, saved, shapes);
  update_writer w(code);
  w.recomputes_all = changes_all;
  for (value_id const v : f.parameters()) {
    change& c = w.known.set_change(v);
    c.whole = changes_all;
    c.new_value = code.cursor.free_value(f.type_of(v));
    if (changes_all) continue;
    c.deltas.push_back(
        {.index = code.cursor.free_value(ir::i64),
         .element = code.cursor.free_value(f.type_of(v).element_type())});
    break;
  }
  ir::names_of_values const names(p, f);
  for (std::uint32_t k = 0; k < f.value_count(); ++k)
    for (std::string_view const name : also_saved)
      if (!f.is_literal(value_id{k}) && names[value_id{k}] == name) (void)code.saved.value(value_id{k});
  visit(w, ir::function::body);
  return "\n" + text_of(
                    plan_stores(saved, code.computed), saved, code.written(), w.guards.outermost_region(),
                    update_program_text(p, f));
}

constexpr std::string_view weighted = R"(
entry @f
func @f(%w: f64[], %a: f64[][], %c: bool) -> f64[] {
  %n = length %w : i64
  %y = map %n (%i: i64) -> f64 {
    %e = at %w, %i : f64
    %row = at %a, %i : f64[]
    %s = reduce add %row from 0.0 : f64
    %p = mul %e, %s : f64
    yield %p
  }
  %r = if %c -> f64[] {
    %z = map %n (%k: i64) -> f64 {
      %b = at %y, %k : f64
      %x = exp %b : f64
      yield %x
    }
    yield %z
  } else {
    yield %y
  }
  return %r
})";

TEST_CASE("a commit writes the values that are computed and saved, and no others") {
  CHECK(planned(weighted, false, {}) == "\n");
  CHECK(planned(weighted, false, {"%p", "%y", "%s"}) == R"(
puts %p[]
puts %y[]
)");
}

TEST_CASE("the values in operations that are recomputed in full are stored from where they are computed") {
  CHECK(planned(weighted, true, {"%s", "%y", "%z"}) == R"(
puts %s, in map
puts %y
puts %z, in if
)");
}

// In the iteration of an element of %w, the old sum is read; in that of an element of %a, the sum is updated, so that its compensation is
// saved.
TEST_CASE("an old sum has a compensation, though a later iteration is the first one that needs it") {
  constexpr auto weighted_sums = fn<"weighted_sums">([](auto const& w, auto const& a) {
    return map([](auto e, auto const& row) { return e * overdub::sum(row); }, w, a);
  });
  using numbers = array<double>;
  auto f = incremental(
      weighted_sums, numbers{1.0, 1.0},
      array<numbers>::copy_of(std::vector<numbers>{{0x1p53, 0.0, 0.0, 0.0}, {1.0, 2.0, 3.0, 4.0}}));
  for (i64 k = 1; k < 4; ++k) { // each rounding error is 1
    f.set_at<0>(1, 0.5 * static_cast<double>(k));
    f.set_at<1>(0, k, 1.0);
    f.commit();
  }
  CHECK(f.value()[0] == 0x1p53 + 4);
  f.set_at<0>(0, 2.0);
  f.set_at<1>(1, 0, 2.0);
  f.commit();
  CHECK(f.value()[0] == 2 * (0x1p53 + 4));
  CHECK(f.value()[1] == 1.5 * 11.0);
}

} // namespace planned_stores
