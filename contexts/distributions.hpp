// Probability distributions: log densities in overdub's operations, which every context intercepts; samplers, supports, and transforms to
// the unconstrained space. It needs the headers of Boost.Math, Boost.Random, Random123 and xxHash.
#pragma once

#include <overdub/contexts/distributions/bounded.hpp>
#include <overdub/contexts/distributions/combinators.hpp>
#include <overdub/contexts/distributions/counts.hpp>
#include <overdub/contexts/distributions/distribution.hpp>
#include <overdub/contexts/distributions/location_scale.hpp>
#include <overdub/contexts/distributions/positive.hpp>
#include <overdub/contexts/distributions/student_t.hpp>
#include <overdub/contexts/distributions/support.hpp>
#include <overdub/contexts/distributions/vectors.hpp>
#include <overdub/contexts/random.hpp>
