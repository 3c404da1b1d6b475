// Probability distributions: log densities in overdub's operations, which every context intercepts; samplers, supports, and transforms to
// the unconstrained space. It needs the headers of Boost.Math and Boost.Random.
#pragma once

#include <overdub/distributions/bounded.hpp>
#include <overdub/distributions/combinators.hpp>
#include <overdub/distributions/counts.hpp>
#include <overdub/distributions/distribution.hpp>
#include <overdub/distributions/location_scale.hpp>
#include <overdub/distributions/positive.hpp>
#include <overdub/distributions/student_t.hpp>
#include <overdub/distributions/support.hpp>
#include <overdub/distributions/vectors.hpp>
#include <overdub/random.hpp>
