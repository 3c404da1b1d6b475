// The parts of trace: the clock, the ring of one thread, and the decoder.
#include "catch.hpp"
#include "property.hpp"

#include <overdub/contexts/trace/decode.hpp>
#include <overdub/contexts/trace/session.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace tracing = overdub::contexts::tracing;
using tracing::callee_info;
using tracing::record;
using tracing::record_kind;
using tracing::ring;

namespace {

constexpr callee_info f{"f", "function"}, g{"g", "function"};

record event(std::uint64_t time, callee_info const& callee, record_kind kind) {
  return {time, reinterpret_cast<std::uintptr_t>(&callee) + static_cast<unsigned>(kind)};
}
record number(std::uint64_t bits, record_kind kind) {
  return {bits, static_cast<unsigned>(tracing::value_type::natural) << 4 | static_cast<unsigned>(kind)};
}

// The events of a writer as text, and whether spans are balanced and times monotone.
struct listener final : tracing::trace_writer {
  std::uint64_t open = 0, last = 0;
  bool right = true;

  void thread(tracing::traced_thread const&) override {}
  void begin(std::uint32_t, std::uint64_t time, callee_info const& c, std::span<record const> x) override {
    at(time);
    ++open;
    text_ += c.name;
    for (record const& r : x) text_ += ' ' + std::to_string(r.first);
    text_ += '(';
  }
  void end(std::uint32_t, std::uint64_t time, bool failed, record const* result) override {
    at(time);
    right = right && open-- > 0;
    if (failed) text_ += '!';
    if (result != nullptr) text_ += std::to_string(result->first);
    text_ += ')';
  }
  void lost(std::uint32_t, std::uint64_t time, std::uint64_t records) override {
    at(time);
    right = right && open == 0;
    text_ += '<' + std::to_string(records) + '>';
  }
  void finish() override {}
  void at(std::uint64_t time) {
    right = right && time >= last;
    last = time;
  }
};

std::string decoded(std::vector<record> const& records, std::uint64_t lost = 0) {
  listener to;
  tracing::decoder decode(0);
  if (lost > 0) decode.lost(lost, to);
  decode(records, tracing::tick_scale(false), to);
  decode.flush(to);
  CHECK(to.right);
  return to.text();
}

} // namespace

TEST_CASE("ticks are nanoseconds of the steady clock, and a calibration does not decrease them") {
  for (bool const counter : {false, tracing::has_steady_counter()}) {
    auto const read = [&] { return counter ? tracing::read_counter() : tracing::steady_nanoseconds(); };
    tracing::tick_scale scale(counter);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    scale.calibrate();
    std::uint64_t const ticks = read(), since = scale.nanoseconds(ticks);
    CHECK(since >= 20'000'000);
    double best = 1;
    for (int i = 0; i < 20; ++i) { // another process may run between the two readings
      auto const by_ticks = static_cast<double>(scale.nanoseconds(read()));
      best = std::min(
          best, std::abs(by_ticks / static_cast<double>(tracing::steady_nanoseconds() - scale.start()) - 1));
    }
    CHECK(best < 0.001);
    for (int i = 0; i < 5; ++i) {
      scale.calibrate();
      CHECK(scale.nanoseconds(ticks + 1000) >= scale.nanoseconds(ticks));
      std::uint64_t const again = scale.nanoseconds(ticks);
      CHECK(static_cast<double>(again) == Approx(static_cast<double>(since)).epsilon(0.001));
    }
    CHECK(scale.nanoseconds(0) == 0);
  }
}

TEST_CASE("the rate of the counter is that of the steady clock within one in a thousand") {
  if (!tracing::has_steady_counter()) return;
  tracing::tick_scale scale(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  scale.calibrate();
  double best = 1;
  for (int i = 0; i < 20; ++i) { // takes the least disturbed measurement
    std::uint64_t const a = tracing::read_counter(), t = tracing::steady_nanoseconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::uint64_t const b = tracing::read_counter(), u = tracing::steady_nanoseconds();
    double const took = static_cast<double>(scale.nanoseconds(b) - scale.nanoseconds(a));
    best = std::min(best, std::abs(took / static_cast<double>(u - t) - 1));
  }
  CHECK(best < 0.001);
}

TEST_CASE(
    "the capacity of a ring is rounded up to a power of two, and a ring is full until its limit is set") {
  ring r(100, false);
  CHECK(r.capacity() == 128);
  CHECK_FALSE(r.has_room());
  r.set_limit(1);
  CHECK(r.has_room());
  r.write(1, 2);
  CHECK_FALSE(r.has_room());
  CHECK(r.written() == 1);
  CHECK(ring(0, false).capacity() == 16);
}

TEST_CASE("a reader gets the last records of a ring in order, and the number of overwritten ones") {
  property([] {
    ring r(16, false);
    r.set_limit(ring::unlimited);
    std::uint64_t written = 0, from = 0, lost = 0, expected = 0;
    for (int step = *rc::gen::inRange(0, 20); step > 0; --step) {
      for (int n = *rc::gen::inRange(0, 40); n > 0; --n, ++written) r.write(written, ~written);
      std::vector<record> out;
      auto const most = *rc::gen::inRange<std::size_t>(0, 20);
      lost += r.read(from, most, false, out);
      for (record const& x : out) {
        RC_ASSERT(x.first >= expected);
        RC_ASSERT(x.second == ~x.first);
        expected = x.first + 1;
      }
      RC_ASSERT(from <= written);
      RC_ASSERT(out.size() <= most);
    }
    std::vector<record> rest;
    std::uint64_t const before = from;
    lost += r.read(from, 1000, false, rest);
    RC_ASSERT(from == written);
    RC_ASSERT((rest.empty() || rest.back().first + 1 == written));
    RC_ASSERT(rest.size() <= 16u);
    RC_ASSERT(before <= from);
    RC_ASSERT(lost <= written);
  });
}

TEST_CASE("a reader for which the writer waits gets all records, also of a full ring") {
  ring r(16, false);
  r.set_limit(16);
  for (std::uint64_t i = 0; i < 16; ++i) r.write(i, i);
  std::vector<record> out;
  std::uint64_t from = 0;
  CHECK(r.read(from, 1000, true, out) == 0);
  CHECK((out.size() == 16 && out.front().first == 0 && from == 16));
}

TEST_CASE("the decoder converts records to spans") {
  using enum record_kind;
  CHECK(
      decoded({event(1, f, begin), event(2, g, begin), event(3, g, end), event(4, f, failed)}) == "f(g()!)");
  CHECK(
      decoded(
          {event(1, f, begin_with_values), number(7, record_kind::value), number(8, last_value),
           event(2, g, begin), event(3, g, end_with_value), number(9, last_value), event(4, f, end)}) ==
      "f 7 8(g(9))");
  CHECK(decoded({event(1, f, begin)}) == "f(");
  CHECK(decoded({event(1, f, begin_with_values)}) == "f(");
  CHECK(decoded({event(1, f, begin_with_values), number(7, record_kind::value)}) == "f 7(");
}

TEST_CASE("the decoder skips ends and values whose begins were lost") {
  using enum record_kind;
  CHECK(decoded({event(1, f, end), event(2, g, begin), event(3, g, end), event(4, f, end)}, 5) == "<5>g()");
  CHECK(decoded({number(7, record_kind::value), number(8, last_value), event(2, g, begin)}, 1) == "<1>g(");
}

TEST_CASE("the decoder ends open spans where records were lost") {
  using enum record_kind;
  listener to;
  tracing::decoder decode(0);
  tracing::tick_scale const scale(false);
  decode(std::vector{event(1, f, begin), event(2, g, begin_with_values)}, scale, to);
  decode.lost(3, to);
  decode(std::vector{event(9, f, end), event(10, g, begin), event(11, g, end)}, scale, to);
  decode.flush(to);
  CHECK(to.text() == "f(g())<3>g()");
  CHECK((to.right && to.open == 0));
}

TEST_CASE("for any records, each end has a begin, and times do not decrease") {
  property([] {
    listener to;
    tracing::decoder decode(0);
    tracing::tick_scale const scale(false);
    for (int n = *rc::gen::inRange(0, 200); n > 0; --n) {
      if (*rc::gen::inRange(0, 10) == 0) decode.lost(1, to);
      auto const time = *rc::gen::inRange<std::uint64_t>(0, 1000);
      auto const k = static_cast<record_kind>(*rc::gen::inRange(0, 7));
      bool const is_value = k == record_kind::value || k == record_kind::last_value;
      record const r = is_value ? number(time, k) : event(scale.start() + time, time % 2 == 0 ? f : g, k);
      decode(std::span(&r, 1), scale, to);
    }
    decode.flush(to);
    RC_ASSERT(to.right);
  });
}

TEST_CASE("the record of a number has 16 bytes, with its position and its type") {
  record const r{
      42, 5u << 8 | static_cast<unsigned>(tracing::value_type::real) << 4 |
              static_cast<unsigned>(record_kind::last_value)};
  CHECK((r.kind() == record_kind::last_value && r.type() == tracing::value_type::real && r.position() == 5));
  static_assert(sizeof(record) == 16);
  record const e = event(3, g, record_kind::failed);
  CHECK((e.kind() == record_kind::failed && &e.callee() == &g));
}

TEST_CASE("counts are preserved when their table grows") {
  tracing::call_counts counts;
  CHECK_FALSE(counts.has(0));
  counts.grow(2);
  counts.count(1);
  counts.grow(10);
  counts.count(9);
  CHECK((counts.of(0) == 0 && counts.of(1) == 1 && counts.of(9) == 1 && counts.of(10) == 0));
  counts.close();
  CHECK((!counts.has(1) && counts.of(1) == 1));
}
