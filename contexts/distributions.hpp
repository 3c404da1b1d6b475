// Probability distributions whose log densities are written in overdub's operations: every context sees through them. Samplers, supports,
// transforms to numbers without constraints. It needs Boost.Math, Boost.Random, Random123 and xxHash: headers alone.
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
