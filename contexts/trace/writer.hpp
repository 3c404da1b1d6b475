// Writers of trace files: one class for each format, which gets the begins and ends of spans, thread by thread.
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

/// The process and the times of a trace.
struct trace_origin {
  long process = 0;
  std::string name;                   // the process's
  std::uint64_t boot_nanoseconds = 0; // the system's clock since it was started, at time 0 of the trace
};

/// A thread of the program; threads that follow one another share one. Numbered from 0.
struct traced_thread {
  std::uint32_t number = 0;
  long id = 0; // the system's, of the first of them
  std::string name;
};

/// Tells a format's class of spans. Times are nanoseconds since the trace's start, and do not decrease in one thread. Ends come
/// in the order of their begins, inner ones first; spans may have no end yet.
class trace_writer {
public:
  virtual ~trace_writer() = default;
  trace_writer() = default;
  trace_writer(trace_writer const&) = delete;
  trace_writer& operator=(trace_writer const&) = delete;

  virtual void thread(traced_thread const& t) = 0; // before the first span of it
  virtual void begin(
      std::uint32_t thread, std::uint64_t time, callee_info const& callee,
      std::span<record const> arguments) = 0;
  virtual void end(std::uint32_t thread, std::uint64_t time, bool failed, record const* result) = 0;
  /// Records of the thread were lost here; all its spans were ended before.
  virtual void lost(std::uint32_t thread, std::uint64_t time, std::uint64_t records) = 0;
  virtual void finish() = 0;

  /// What can be written to the file, in whole parts: it ends where a reader may stop.
  std::string& text() { return text_; }

protected:
  std::string text_;
};

using io::append_number;

/// A thread's name in formats that have no place for losses: "main (12 records lost)".
inline std::string name_with_losses(std::string name, std::uint64_t records) {
  if (records == 0) return name;
  name += " (";
  append_number(name, records);
  return name + " records lost)";
}

using overdub::detail::append_json;

/// Appends a value as JSON. What JSON has no number for is a string.
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
