// Forward mode: the contexts `forward` and `forward_along`, and the functions that run others in them, as derivative and forward_gradient.
#pragma once

#include <overdub/contexts/forward/forward_along.hpp>
#include <overdub/contexts/old_names.hpp>
#include <overdub/derivative.hpp>
