// Traces as JSON for https://www.speedscope.app. All spans of a thread are consecutive, so that the file is written at
// once. Format: speedscope's file-format-schema.json, evented profiles.
#pragma once

#include <overdub/contexts/trace/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::contexts::tracing {

/// Memory: the text of the file.
class speedscope_writer final : public trace_writer {
public:
  explicit speedscope_writer(trace_origin const& origin) : name_(origin.name) {}

  void thread(traced_thread const& t) override {
    profiles_.resize(t.number + 1);
    profiles_[t.number].name = t.name;
  }
  void begin(
      std::uint32_t thread, std::uint64_t time, callee_info const& callee, std::span<record const>) override {
    profile& p = profiles_[thread];
    auto const [at, added] = frames_.try_emplace(callee.name, names_.size());
    if (added) names_.push_back(callee.name);
    if (p.events.empty()) p.first = time;
    p.open.push_back(at->second);
    event(p, 'O', at->second, time);
  }
  void end(std::uint32_t thread, std::uint64_t time, bool, record const*) override {
    profile& p = profiles_[thread];
    event(p, 'C', p.open.back(), time);
    p.open.pop_back();
  }
  void lost(std::uint32_t thread, std::uint64_t, std::uint64_t records) override {
    profiles_[thread].lost += records;
  }

  void finish() override {
    text_ = "{\"$schema\":\"https://www.speedscope.app/"
            "file-format-schema.json\",\"exporter\":\"overdub\",\"name\":";
    append_json(text_, name_);
    text_ += ",\"shared\":{\"frames\":[";
    for (std::size_t i = 0; i < names_.size(); ++i) {
      text_ += i == 0 ? "{\"name\":" : ",{\"name\":";
      append_json(text_, names_[i]);
      text_ += '}';
    }
    text_ += "]},\"profiles\":[";
    bool first = true;
    for (profile& p : profiles_) {
      if (p.events.empty()) continue;
      for (; !p.open.empty(); p.open.pop_back())
        event(p, 'C', p.open.back(), p.last); // the format requires an end
      text_ += std::exchange(first, false) ? "\n" : ",\n";
      text_ += "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":";
      append_json(text_, name_with_losses(p.name, p.lost));
      text_ += ",\"startValue\":";
      append_number(text_, p.first);
      text_ += ",\"endValue\":";
      append_number(text_, p.last);
      text_ += ",\"events\":[";
      text_ += p.events;
      text_ += "]}";
    }
    text_ += "]}\n";
  }

private:
  struct profile {
    std::string name, events;
    std::uint64_t first = 0, last = 0, lost = 0;
    std::vector<std::size_t> open;
  };

  static void event(profile& p, char type, std::size_t frame, std::uint64_t time) {
    p.events += p.events.empty() ? "\n{\"type\":\"" : ",\n{\"type\":\"";
    p.events += type;
    p.events += "\",\"frame\":";
    append_number(p.events, frame);
    p.events += ",\"at\":";
    append_number(p.events, time);
    p.events += '}';
    p.last = time;
  }

  std::string name_;
  std::map<std::string_view, std::size_t> frames_;
  std::vector<std::string_view> names_;
  std::vector<profile> profiles_;
};

} // namespace overdub::contexts::tracing
