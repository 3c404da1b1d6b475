// Probabilistic models: random choices by address, the generative function interface, and inference over it.
#pragma once

#include <overdub/core/exact_math.hpp>
#include <overdub/models/calibration.hpp>
#include <overdub/models/choice_transform.hpp>
#include <overdub/models/choices.hpp>
#include <overdub/models/choosing.hpp>
#include <overdub/models/conditional_density.hpp>
#include <overdub/models/dynamic.hpp>
#include <overdub/models/dynamic_gradients.hpp>
#include <overdub/models/enumeration.hpp>
#include <overdub/models/filter.hpp>
#include <overdub/models/generating.hpp>
#include <overdub/models/hamiltonian_move.hpp>
#include <overdub/models/involutive.hpp>
#include <overdub/models/involutive_move.hpp>
#include <overdub/models/mcmc.hpp>
#include <overdub/models/metropolis_hastings.hpp>
#include <overdub/models/model.hpp>
#include <overdub/models/moves.hpp>
#include <overdub/models/mutable_trace.hpp>
#include <overdub/models/numbers.hpp>
#include <overdub/models/posterior.hpp>
#include <overdub/models/resimulation.hpp>
#include <overdub/models/sample.hpp>
#include <overdub/models/trace.hpp>
#include <overdub/models/trace_translator.hpp>
