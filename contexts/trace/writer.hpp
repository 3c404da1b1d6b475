// Writers of trace files: a class for each format, which receives the begins and ends of spans, by thread.
#pragma once

#include <overdub/call/utf8.hpp>
#include <overdub/contexts/trace/record.hpp>
#include <overdub/io/number_text.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::contexts::tracing {

/// The process and the time origin of a trace.
struct trace_origin {
  long process = 0;
  std::string name;                   // of the process
  std::uint64_t boot_nanoseconds = 0; // CLOCK_BOOTTIME at time 0 of the trace
};

/// A thread of the program; successive threads may share one. Numbered from 0.
struct traced_thread {
  std::uint32_t number = 0;
  long id = 0; // the system's id of the first of them
  std::string name;
};

/// Receives spans. Times are nanoseconds since the trace's start, and do not decrease in one thread. Ends come innermost
/// first; spans may have no end yet.
class trace_writer {
public:
  virtual ~trace_writer() = default;
  trace_writer() = default;
  trace_writer(trace_writer const&) = delete;
  trace_writer& operator=(trace_writer const&) = delete;

  virtual void thread(traced_thread const& t) = 0; // before its first span
  virtual void begin(
      std::uint32_t thread, std::uint64_t time, callee_info const& callee,
      std::span<record const> arguments) = 0;
  virtual void end(std::uint32_t thread, std::uint64_t time, bool failed, record const* result) = 0;
  /// Records of the thread were lost here; all its spans have been ended before.
  virtual void lost(std::uint32_t thread, std::uint64_t time, std::uint64_t records) = 0;
  virtual void finish() = 0;

  /// Complete output: the file may end after it.
  std::string& text() { return text_; }

protected:
  std::string text_;
};

using io::append_number;

/// A thread's name, for formats that cannot represent losses: "main (12 records lost)".
inline std::string name_with_losses(std::string name, std::uint64_t records) {
  if (records == 0) return name;
  name += " (";
  append_number(name, records);
  return name + " records lost)";
}

using overdub::detail::append_json;

/// Appends a value as JSON; a number that JSON cannot represent as a string.
inline void append_json(std::string& to, record const& value) {
  switch (value.type()) {
  case value_type::boolean:
    to += value.first != 0 ? "true" : "false";
    return;
  case value_type::integer:
    append_number(to, static_cast<std::int64_t>(value.first));
    return;
  case value_type::natural:
    append_number(to, value.first);
    return;
  case value_type::elements:
    to += '"';
    append_number(to, value.first);
    to += " elements\"";
    return;
  case value_type::real: {
    auto const x = __builtin_bit_cast(double, value.first);
    bool const finite = is_finite(x);
    if (!finite) to += '"';
    append_number(to, x);
    if (!finite) to += '"';
    return;
  }
  }
}

} // namespace overdub::contexts::tracing
