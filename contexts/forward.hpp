// Forward mode: the context `forward_along<N>`, with N tangents, `forward`, with one, and derivative, forward_gradient and the like.
#pragma once

#include <overdub/contexts/forward/forward_along.hpp>
#include <overdub/derivative.hpp>
