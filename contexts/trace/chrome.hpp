// Traces as JSON of Chrome's trace events, an array that need not be closed, for https://ui.perfetto.dev and
// chrome://tracing. Format: "Trace Event Format", a document of the Chromium project.
#pragma once

#include <overdub/contexts/trace/writer.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::contexts::tracing {

class chrome_writer final : public trace_writer {
public:
  explicit chrome_writer(trace_origin const& origin) : process_(origin.process) {
    text_ = "[\n";
    metadata("process_name", 0, origin.name);
  }

  void thread(traced_thread const& t) override {
    ids_.resize(t.number + 1);
    ids_[t.number] = t.id;
    metadata("thread_name", t.id, t.name);
  }
  void begin(
      std::uint32_t thread, std::uint64_t time, callee_info const& callee,
      std::span<record const> arguments) override {
    event('B', thread, time);
    text_ += ",\"name\":";
    append_json(text_, callee.name);
    text_ += ",\"cat\":";
    append_json(text_, callee.kind);
    char separator = '{';
    for (record const& a : arguments) {
      text_ += separator == '{' ? ",\"args\":{\"" : ",\"";
      append_number(text_, a.position());
      text_ += "\":";
      append_json(text_, a);
      separator = ',';
    }
    text_ += arguments.empty() ? "}" : "}}";
  }
  void end(std::uint32_t thread, std::uint64_t time, bool failed, record const* result) override {
    event('E', thread, time);
    if (failed) text_ += ",\"args\":{\"failed\":true}";
    if (result != nullptr) {
      text_ += ",\"args\":{\"result\":";
      append_json(text_, *result);
      text_ += '}';
    }
    text_ += '}';
  }
  void lost(std::uint32_t thread, std::uint64_t time, std::uint64_t records) override {
    event('i', thread, time);
    text_ += ",\"s\":\"t\",\"name\":\"";
    append_number(text_, records);
    text_ += " records lost\"}";
  }
  void finish() override { text_ += "\n]\n"; }

private:
  void open(char phase, long thread) {
    if (!std::exchange(first_, false)) text_ += ",\n";
    text_ += "{\"ph\":\"";
    text_ += phase;
    text_ += "\",\"pid\":";
    append_number(text_, process_);
    text_ += ",\"tid\":";
    append_number(text_, thread);
  }
  void metadata(char const* what, long thread, std::string const& name) {
    open('M', thread);
    text_ += ",\"name\":\"";
    text_ += what;
    text_ += "\",\"args\":{\"name\":";
    append_json(text_, name);
    text_ += "}}";
  }
  // Times are in microseconds, with three decimals.
  void event(char phase, std::uint32_t thread, std::uint64_t time) {
    open(phase, ids_[thread]);
    text_ += ",\"ts\":";
    append_number(text_, time / 1000);
    auto const rest = static_cast<unsigned>(time % 1000);
    char const decimals[] = {
        '.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
        static_cast<char>('0' + rest % 10)};
    text_.append(decimals, sizeof decimals);
  }

  long process_;
  bool first_ = true;
  std::vector<long> ids_;
};

} // namespace overdub::contexts::tracing
