// Records of one thread as begins and ends of spans, in order: what was lost is left out, such that each end has its begin.
#pragma once

#include <overdub/contexts/trace/clock.hpp>
#include <overdub/contexts/trace/writer.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::contexts::tracing {

class decoder {
public:
  explicit decoder(std::uint32_t thread) : thread_(thread) {}

  /// Tells the writer of records that follow those of the calls before.
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
            time_, scale.nanoseconds(r.first)); // a calibration may set the clock back by a few of them
        waiting_ = r;
        if (r.kind() != record_kind::begin_with_values && r.kind() != record_kind::end_with_value) flush(to);
        break;
      }
      case record_kind::value:
      case record_kind::last_value:
        // What these belong to was lost.
        if (waiting_.second == 0) break;
        values_.push_back(r);
        if (r.kind() == record_kind::last_value) flush(to);
        break;
      }
    }
  }

  /// Records are missing here: spans that are open end where the thread was last heard of, since their ends may be missing.
  void lost(std::uint64_t records, trace_writer& to) {
    flush(to);
    for (; open_ > 0; --open_) to.end(thread_, time_, false, nullptr);
    to.lost(thread_, time_, records);
  }

  /// There is no more.
  void flush(trace_writer& to) {
    record const r = std::exchange(waiting_, record{});
    if (r.second != 0) {
      if (r.kind() == record_kind::begin || r.kind() == record_kind::begin_with_values) {
        ++open_;
        to.begin(thread_, time_, r.callee(), values_);
      } else if (open_ > 0) { // else its begin was lost
        --open_;
        to.end(thread_, time_, r.kind() == record_kind::failed, values_.empty() ? nullptr : &values_.back());
      }
    }
    values_.clear();
  }

private:
  std::uint32_t thread_;
  std::uint64_t open_ = 0; // spans
  std::uint64_t time_ = 0;
  record waiting_{}; // for its values
  std::vector<record> values_;
};

} // namespace overdub::contexts::tracing
