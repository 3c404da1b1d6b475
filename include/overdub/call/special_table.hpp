// The functions of <overdub/special.hpp>, for executors, which do not include Boost.Math. It is enough if one unit of a program includes
// special.hpp.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/core/requirements.hpp>

#include <cstdint>

namespace overdub::detail {

struct special_table {
  double (*digamma_f64)(double) = nullptr;
  float (*digamma_f32)(float) = nullptr;
  double (*polygamma_f64)(std::int64_t, double) = nullptr;
  float (*polygamma_f32)(std::int64_t, float) = nullptr;
};
// Initialised before main.
OVERDUB_HIDDEN inline constinit special_table special{};

} // namespace overdub::detail
