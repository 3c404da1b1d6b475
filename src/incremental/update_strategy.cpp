#include <overdub/incremental/update_strategy.hpp>

#include <algorithm>
#include <cstdint>

namespace overdub::increments {

void update_strategy::choose(std::uint64_t plain, std::uint64_t whole) {
  plain_ = plain;
  whole_ = whole;
  mean_ = work_ / std::max<std::uint32_t>(counted_, 1);
  auto const is_less = [&](std::uint64_t others) { return others * 21 < mean_ * window * 20; };
  state_ = plain_ == 0 || !is_less(plain_ * window) ? state::update // 0: it cannot be counted
           : is_less(with_breaks())                 ? state::plain
                                                    : state::saved_values_needed;
  begin_window();
  until_retry_ = retry_interval_;
  retry_interval_ = std::min(retry_interval_ * 2, maximum_retry_interval);
}

} // namespace overdub::increments
