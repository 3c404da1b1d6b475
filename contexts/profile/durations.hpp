// A histogram of durations, with buckets of relative width 1/8, for percentiles.
#pragma once

#include <overdub/core/requirements.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::contexts {

/// A histogram of durations. Percentiles are accurate to 6 percent. At most 4 KiB.
class durations {
public:
  void add(std::chrono::nanoseconds d) {
    std::size_t const b = bucket_of(static_cast<std::uint64_t>(std::max<std::int64_t>(d.count(), 0)));
    if (counts_.size() <= b) counts_.resize(b + 1);
    ++counts_[b];
    ++count_;
    largest_ = std::max(largest_, d);
  }
  void add(durations const& other) {
    if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    largest_ = std::max(largest_, other.largest_);
  }

  /// A quantile: the duration that a part of them, from 0 to 1, does not exceed; percentile(0.5) is the median. 0 if there
  /// are none.
  std::chrono::nanoseconds percentile(double part) const {
    long left = static_cast<long>(part * static_cast<double>(count_));
    for (std::size_t b = 0; b < counts_.size(); ++b)
      if ((left -= counts_[b]) < 0) return std::min(middle_of(b), largest_);
    return largest_;
  }
  std::chrono::nanoseconds largest() const { return largest_; }

private:
  // A bucket for each nanosecond up to 15 ns, then eight for each power of two.
  static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < 16) return static_cast<std::size_t>(ns);
    auto const shift = static_cast<unsigned>(std::bit_width(ns)) - 4;
    return 8 * shift + static_cast<std::size_t>(ns >> shift);
  }
  static std::chrono::nanoseconds middle_of(std::size_t bucket) {
    if (bucket < 16) return std::chrono::nanoseconds(bucket);
    auto const shift = static_cast<unsigned>(bucket / 8 - 1);
    std::uint64_t const first = static_cast<std::uint64_t>(8 + bucket % 8) << shift;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(first + (std::uint64_t{1} << shift) / 2));
  }

  std::vector<long> counts_;
  long count_ = 0;
  std::chrono::nanoseconds largest_{};
};

} // namespace overdub::contexts
