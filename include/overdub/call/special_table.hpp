// Where <overdub/special.hpp> leaves its functions for executors, which know operations by number and do not include
// Boost.Math: one unit of a program that includes special.hpp is enough.
#pragma once

#include <overdub/call/config.hpp>
#include <overdub/core/requirements.hpp>

#include <cstdint>

namespace overdub::detail {

struct special_table {
  double (*digamma_f64)(double) = nullptr;
  float (*digamma_f32)(float) = nullptr;
  double (*polygamma_f64)(std::int64_t, double) = nullptr;
  float (*polygamma_f32)(std::int64_t, float) = nullptr;
};
// Written before main.
OVERDUB_HIDDEN inline constinit special_table special{};

} // namespace overdub::detail
