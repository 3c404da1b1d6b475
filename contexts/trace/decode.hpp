// Decodes records of one thread to begins and ends of spans, in order. Balances them where records were lost.
#pragma once

#include <overdub/contexts/trace/clock.hpp>
#include <overdub/contexts/trace/writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::contexts::tracing {

class decoder {
public:
  explicit decoder(std::uint32_t thread) : thread_(thread) {}

  /// Decodes records, which follow those of earlier calls.
  void operator()(std::span<record const> records, tick_scale const& scale, trace_writer& to) {
    for (record const& r : records) {
      switch (r.kind()) {
      case record_kind::begin:
      case record_kind::begin_with_values:
      case record_kind::end:
      case record_kind::end_with_value:
      case record_kind::failed: {
        flush(to);
        time_ = std::max(
            time_, scale.nanoseconds(r.first)); // a calibration may set the clock back by some nanoseconds
        waiting_ = r;
        if (r.kind() != record_kind::begin_with_values && r.kind() != record_kind::end_with_value) flush(to);
        break;
      }
      case record_kind::value:
      case record_kind::last_value:
        // The record that these values belong to was lost.
        if (waiting_.second == 0) break;
        values_.push_back(r);
        if (r.kind() == record_kind::last_value) flush(to);
        break;
      }
    }
  }

  /// Records are missing: ends open spans at the last known time, since their ends may be lost.
  void lost(std::uint64_t records, trace_writer& to) {
    flush(to);
    for (; !open_.empty(); open_.pop_back()) to.end(thread_, time_, false, nullptr);
    to.lost(thread_, time_, records);
  }

  /// Ends the input.
  void flush(trace_writer& to) {
    record const r = std::exchange(waiting_, record{});
    if (r.second != 0 && !r.callee().kind.empty()) {
      if (r.kind() == record_kind::begin || r.kind() == record_kind::begin_with_values) {
        open_.push_back(&r.callee());
        to.begin(thread_, time_, r.callee(), values_);
      } else
        end(r, to);
    }
    values_.clear();
  }

private:
  // Ends the innermost span of the callee; no span if its begin was lost. Spans inside of it have no end: siglongjmp left the call while it
  // was recorded.
  void end(record const& r, trace_writer& to) {
    std::size_t at = open_.size();
    while (at > 0 && open_[at - 1] != &r.callee()) --at;
    if (at == 0) return;
    for (; open_.size() > at; open_.pop_back()) to.end(thread_, time_, true, nullptr);
    open_.pop_back();
    to.end(thread_, time_, r.kind() == record_kind::failed, values_.empty() ? nullptr : &values_.back());
  }

  std::uint32_t thread_;
  std::vector<callee_info const*> open_; // the callees of open spans
  std::uint64_t time_ = 0;
  record waiting_{}; // a record whose values follow
  std::vector<record> values_;
};

} // namespace overdub::contexts::tracing
