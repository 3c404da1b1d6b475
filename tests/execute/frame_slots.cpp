// The words of a frame: who has them, and until when; and the rows of lanes.
#include "catch.hpp"

#include <overdub/implementation/execute/frame_slots.hpp>
#include <overdub/implementation/execute/lane_rows.hpp>
#include <overdub/ir/parse.hpp>

#include <vector>

using namespace overdub;
using namespace overdub::execute;

namespace {

// A function whose %a ends at %b, and %b and %x at the yield.
struct fixture {
  ir::program p = ir::parse(R"(func @f(%x: f64, %r: f64[]) -> (f64, f64, f64[]) {
  %a = neg %x : f64
  %b = neg %a : f64
  %s = update %r, 0, 1.0 : f64[]
  return %b, %x, %s
})");
  ir::function const& f = p[ir::function_id{0}];
  frame_slots slots{f, ir::use_order(f)};
  ir::value_id x = f.argument(ir::function::body, 0), r = f.argument(ir::function::body, 1);
  ir::node_id first = f[ir::function::body].first, second = f[first].next, third = f[second].next;
  ir::value_id a = f.result(first), b = f.result(second);
};

} // namespace

TEST_CASE_METHOD(fixture, "the words of a value that ends are free for values of the same number of words") {
  offset const of_a = slots.assign_new(a);
  slots.assign(r, {.at = slots.allocate(slots.words_of(r)), .owns_words = true});
  REQUIRE(slots.ending_at(second).size() == 1);
  CHECK(slots.ending_at(second)[0] == a);
  CHECK(slots.end(a).owns_words);
  CHECK_FALSE(slots.end(a).owns_words); // it ended already
  offset const before = slots.frame_bytes();
  CHECK(slots.assign_new(b) == of_a);
  CHECK(slots.frame_bytes() == before);
  CHECK(slots.allocate(1) == before);
}

TEST_CASE_METHOD(fixture, "a value with a hint is where the hint says, and does not own the words") {
  offset const where = slots.allocate(1);
  slots.hint(a, where);
  CHECK(slots.is_hinted(a));
  CHECK(slots.assign_new(a) == where);
  CHECK_FALSE(slots.is_hinted(a));
  CHECK_FALSE(slots.end(a).owns_words);
  CHECK(slots.assign_new(b) != where);
}

TEST_CASE_METHOD(fixture, "words are taken at the last use alone, and only from their owner") {
  slots.assign(r, slots.allocate(slots.words_of(r)));
  CHECK_FALSE(slots.take_words(r, third)); // a parameter's words are the frame's
  offset const of_a = slots.assign_new(a);
  CHECK_FALSE(slots.take_words(a, third));
  CHECK(slots.take_words(a, second));
  CHECK_FALSE(slots.end(a).owns_words);
  CHECK(slots.assign_new(b) != of_a);
}

TEST_CASE_METHOD(fixture, "a value in lanes gives up its words, and its row and reference are the caller's") {
  offset const row_pointer = slots.allocate(1), reference = slots.allocate(1), first_lane = slots.allocate(1);
  slots.assign(a, {.at = row_pointer, .row = 3, .owner = reference, .first = first_lane, .step = 0});
  frame_slot const was = slots.end(a);
  CHECK(was.row == 3);
  CHECK(was.owner == reference);
  // The pointer to a row is not free.
  CHECK(slots.allocate(1) == reference);
  CHECK(slots.allocate(1) == first_lane);
  offset const end = slots.frame_bytes();
  CHECK(slots.allocate(1) == end);
}

TEST_CASE_METHOD(fixture, "only arrays and functions with words are counted") {
  CHECK_FALSE(slots.has_count(r));
  slots.assign(r, 64);
  CHECK(slots.has_count(r));
  CHECK(slots.owner_word(r) == 64 + word_size);
  slots.assign(x, 128);
  CHECK_FALSE(slots.has_count(x));
}

TEST_CASE_METHOD(fixture, "each row of lanes has one pointer, in a word that no value had") {
  offset const used = slots.allocate(1);
  slots.free(used, 1);
  lane_rows rows(slots);
  offset const row = rows.take();
  offset const pointer = rows.pointer_to(row);
  CHECK(pointer != used);
  CHECK(rows.pointer_to(row) == pointer);
  offset const aside = rows.temporary();
  CHECK(aside != pointer);
  rows.free_temporary();
  CHECK(rows.temporary() == aside);
  rows.free_temporary();
  rows.free(row);
  offset const many = rows.take(8);
  (void)rows.pointer_to(many + 7);
  CHECK(rows.count() == 10);
  CHECK(rows.end() == std::vector<offset>{pointer, row, aside, 1, slots.frame_bytes() - word_size, many + 7});
}
