// The output of each format for a few spans at fixed times, read by existing tools.
#include "catch.hpp"
#include "spans.hpp"

#include <overdub/contexts/trace.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <fstream>
#include <string>

namespace od = overdub;
namespace tracing = overdub::contexts::tracing;
using overdub::contexts::trace_format;
using tracing::callee_info;
using tracing::record;
using tracing::record_kind;
using tracing::value_type;

namespace {

constexpr callee_info wave{"wave", "function"}, sine{"sin", "operation"}, quoted{"a;\"b\"\n", "leaf"};

record value(std::uint64_t bits, value_type type, unsigned position) {
  return {bits, position << 8 | static_cast<unsigned>(type) << 4 | static_cast<unsigned>(record_kind::value)};
}

// Two threads; arguments, a result, a failure, lost records, a span without an end.
std::string written(trace_format format) {
  auto const w = tracing::make_writer(format, {42, "program", 1'000'000});
  w->thread({0, 42, "main"});
  std::array const arguments{
      value(__builtin_bit_cast(std::uint64_t, 2.5), value_type::real, 0),
      value(static_cast<std::uint64_t>(-3), value_type::integer, 1), value(1, value_type::boolean, 2),
      value(7, value_type::natural, 3), value(1000, value_type::elements, 5)};
  record const result = value(__builtin_bit_cast(std::uint64_t, 0.25), value_type::real, 0);
  w->begin(0, 1'000, wave, arguments);
  w->begin(0, 1'300, sine, {});
  w->end(0, 1'400, false, nullptr);
  w->begin(0, 1'500, sine, {});
  w->end(0, 1'550, false, nullptr);
  w->thread({1, 43, "thread 2"});
  w->begin(1, 1'200, quoted, {});
  w->end(1, 1'234'567, true, nullptr);
  w->end(0, 2'000, false, &result);
  w->lost(0, 2'000, 12);
  w->begin(0, 300'000, wave, {});
  w->finish();
  return w->text();
}

} // namespace

TEST_CASE("Chrome's JSON has the expected events") {
  CHECK(
      written(trace_format::chrome) ==
      R"([
{"ph":"M","pid":42,"tid":0,"name":"process_name","args":{"name":"program"}},
{"ph":"M","pid":42,"tid":42,"name":"thread_name","args":{"name":"main"}},
{"ph":"B","pid":42,"tid":42,"ts":1.000,"name":"wave","cat":"function","args":{"0":2.5,"1":-3,"2":true,"3":7,"5":"1000 elements"}},
{"ph":"B","pid":42,"tid":42,"ts":1.300,"name":"sin","cat":"operation"},
{"ph":"E","pid":42,"tid":42,"ts":1.400},
{"ph":"B","pid":42,"tid":42,"ts":1.500,"name":"sin","cat":"operation"},
{"ph":"E","pid":42,"tid":42,"ts":1.550},
{"ph":"M","pid":42,"tid":43,"name":"thread_name","args":{"name":"thread 2"}},
{"ph":"B","pid":42,"tid":43,"ts":1.200,"name":"a;\"b\"\u000a","cat":"leaf"},
{"ph":"E","pid":42,"tid":43,"ts":1234.567,"args":{"failed":true}},
{"ph":"E","pid":42,"tid":42,"ts":2.000,"args":{"result":0.25}},
{"ph":"i","pid":42,"tid":42,"ts":2.000,"s":"t","name":"12 records lost"},
{"ph":"B","pid":42,"tid":42,"ts":300.000,"name":"wave","cat":"function"}
]
)");
}

TEST_CASE("folded stacks have the self time of each stack") {
  CHECK(
      written(trace_format::folded) == "main (12 records lost);wave 850\n"
                                       "main (12 records lost);wave;sin 150\n"
                                       "thread 2;a_\"b\"_ 1233367\n");
}

TEST_CASE("speedscope's JSON closes open spans") {
  CHECK(
      written(trace_format::speedscope) ==
      R"json({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"overdub","name":"program","shared":{"frames":[{"name":"wave"},{"name":"sin"},{"name":"a;\"b\"\u000a"}]},"profiles":[
{"type":"evented","unit":"nanoseconds","name":"main (12 records lost)","startValue":1000,"endValue":300000,"events":[
{"type":"O","frame":0,"at":1000},
{"type":"O","frame":1,"at":1300},
{"type":"C","frame":1,"at":1400},
{"type":"O","frame":1,"at":1500},
{"type":"C","frame":1,"at":1550},
{"type":"C","frame":0,"at":2000},
{"type":"O","frame":0,"at":300000},
{"type":"C","frame":0,"at":300000}]},
{"type":"evented","unit":"nanoseconds","name":"thread 2","startValue":1200,"endValue":1234567,"events":[
{"type":"O","frame":2,"at":1200},
{"type":"C","frame":2,"at":1234567}]}]}
)json");
}

TEST_CASE("Python's parser reads both kinds of JSON") {
  for (trace_format const format : {trace_format::chrome, trace_format::speedscope}) {
    spans::temporary_file const file("formats.json");
    std::ofstream(file.path) << written(format);
    std::string const read = spans::output_of(
        "python3 -c 'import json, sys\n"
        "t = json.load(open(sys.argv[1]))\n"
        "print(len(t) if type(t) is list else [len(p[\"events\"]) for p in t[\"profiles\"]])' " +
        file.path);
    CHECK(read == (format == trace_format::chrome ? "13\n" : "[8, 2]\n"));
  }
}

TEST_CASE("a picture is well-formed XML, with a rectangle for each span that is wide enough") {
  spans::temporary_file const file("formats.svg");
  std::ofstream(file.path) << written(trace_format::svg);
  std::string const read = spans::output_of(
      "python3 -c 'import sys, xml.etree.ElementTree as x\n"
      "for g in x.parse(sys.argv[1]).getroot().iter(\"{http://www.w3.org/2000/svg}g\"):\n"
      "  r = g[1].attrib\n"
      "  print(g[0].text, r[\"x\"], r[\"y\"], r[\"width\"])' " +
      file.path);
  CHECK_THAT(written(trace_format::svg), Catch::Contains(">main (12 records lost), 1233 us</text>"));
  // The two spans of sin are too narrow; a span without an end extends to the end of the trace.
  CHECK(
      read == "wave, 1000 ns 8.0 18 0.8\n"
              "wave, 934 us 246.5 18 745.5\n"
              "a;\"b\" , failed after 1233 us 8.2 72 983.8\n");
}

TEST_CASE("protoc reads Perfetto's packets by the schema") {
  spans::temporary_file const file("formats.pftrace");
  std::ofstream(file.path, std::ios::binary) << written(trace_format::perfetto);
  std::string const text = spans::decoded(file.path);
  // protoc prints fields that are not in the schema as numbers.
  INFO(text);
  for (char const digit : std::string("0123456789"))
    for (int indent = 0; indent <= 10; indent += 2)
      CHECK(
          text.find("\n" + std::string(static_cast<std::size_t>(indent), ' ') + digit) == std::string::npos);
  CHECK(spans::occurrences(text, "packet {") == 15);

  // The process, a thread of it, and the clock and the defaults of the thread's packets.
  CHECK(text.starts_with(R"(packet {
  track_descriptor {
    uuid: 4096000001
    process {
      pid: 42
      process_name: "program"
    }
  }
}
packet {
  track_descriptor {
    uuid: 4096000002
    thread {
      pid: 42
      tid: 42
      thread_name: "main"
    }
    parent_uuid: 4096000001
  }
}
packet {
  clock_snapshot {
    clocks {
      clock_id: 6
      timestamp: 1000000
    }
    clocks {
      clock_id: 64
      timestamp: 1000000
      is_incremental: true
    }
    primary_trace_clock: 6
  }
  trusted_packet_sequence_id: 1
  sequence_flags: 1
  trace_packet_defaults {
    track_event_defaults {
      track_uuid: 4096000002
    }
    timestamp_clock_id: 64
  }
}
packet {
  timestamp: 1000
  trusted_packet_sequence_id: 1
  track_event {
    debug_annotations {
      double_value: 2.5
      name: "0"
    }
    debug_annotations {
      int_value: -3
      name: "1"
    }
    debug_annotations {
      bool_value: true
      name: "2"
    }
    debug_annotations {
      uint_value: 7
      name: "3"
    }
    debug_annotations {
      string_value: "1000 elements"
      name: "5"
    }
    type: TYPE_SLICE_BEGIN
    name_iid: 1
  }
  interned_data {
    event_names {
      iid: 1
      name: "wave"
    }
  }
  sequence_flags: 2
}
)"));
  // A sequence has each name once, and times are differences.
  CHECK(spans::occurrences(text, R"(packet {
  timestamp: 100
  trusted_packet_sequence_id: 1
  track_event {
    type: TYPE_SLICE_BEGIN
    name_iid: 2
  }
  sequence_flags: 2
}
packet {
  timestamp: 50
  trusted_packet_sequence_id: 1
  track_event {
    type: TYPE_SLICE_END
  }
  sequence_flags: 2
}
)") == 1);
  CHECK(spans::occurrences(text, "name: \"sin\"") == 1);
  CHECK(spans::occurrences(text, R"(packet {
  timestamp: 1233367
  trusted_packet_sequence_id: 2
  track_event {
    debug_annotations {
      bool_value: true
      name: "failed"
    }
    type: TYPE_SLICE_END
  }
)") == 1);
  CHECK(spans::occurrences(text, R"(packet {
  timestamp: 0
  trusted_packet_sequence_id: 1
  track_event {
    type: TYPE_INSTANT
    name: "12 records lost"
  }
)") == 1);
  CHECK(text.ends_with(R"(packet {
  timestamp: 298000
  trusted_packet_sequence_id: 1
  track_event {
    type: TYPE_SLICE_BEGIN
    name_iid: 1
  }
  sequence_flags: 2
}
)"));
}

TEST_CASE("many names, many threads and long times fit into Perfetto's packets") {
  auto const w = tracing::make_writer(trace_format::perfetto, {1, "p", 0});
  std::deque<std::string> names;
  std::deque<callee_info> callees;
  for (int i = 0; i < 300; ++i) {
    names.push_back("function " + std::to_string(i));
    callees.push_back({names.back(), "function"});
  }
  for (std::uint32_t t = 0; t < 200; ++t) {
    w->thread({t, t + 1, "t"});
    std::uint64_t time = 0;
    for (int twice = 0; twice < 2; ++twice)
      for (callee_info const& c : callees) {
        w->begin(t, time += 1'000'000'000'000'000, c, {});
        w->end(t, time, false, nullptr);
      }
  }
  spans::temporary_file const file("many.pftrace");
  std::ofstream(file.path, std::ios::binary) << w->text();
  std::string const text = spans::decoded(file.path);
  CHECK(spans::occurrences(text, "TYPE_SLICE_BEGIN") == 200 * 600);
  CHECK(spans::occurrences(text, "timestamp: 1000000000000000\n") == 200 * 600);
  CHECK(spans::occurrences(text, "name: \"function 299\"") == 200);
  CHECK(spans::occurrences(text, "name_iid: 300\n") == 200 * 2);
  CHECK(spans::occurrences(text, "trusted_packet_sequence_id: 200\n") == 1 + 1200);
}

TEST_CASE("a span without arguments takes at most 32 bytes in Perfetto's format") {
  auto const square = od::fn<"square">([](auto x) { return x * x; });
  od::contexts::recording r(1 << 17);
  for (int i = 0; i < 1 << 16; ++i) od::run(od::contexts::trace{}, square, 2.0);
  CHECK(r.text(trace_format::perfetto).size() <= 32 * (1 << 16));
}
