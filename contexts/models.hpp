// Probabilistic models: random choices by address, the generative function interface, and inference over it.
#pragma once

#include <overdub/contexts/models/calibration.hpp>
#include <overdub/contexts/models/choice_transform.hpp>
#include <overdub/contexts/models/choices.hpp>
#include <overdub/contexts/models/choosing.hpp>
#include <overdub/contexts/models/dynamic.hpp>
#include <overdub/contexts/models/dynamic_gradients.hpp>
#include <overdub/contexts/models/enumeration.hpp>
#include <overdub/contexts/models/filter.hpp>
#include <overdub/contexts/models/generating.hpp>
#include <overdub/contexts/models/hamiltonian_move.hpp>
#include <overdub/contexts/models/involutive.hpp>
#include <overdub/contexts/models/involutive_move.hpp>
#include <overdub/contexts/models/mcmc.hpp>
#include <overdub/contexts/models/metropolis_hastings.hpp>
#include <overdub/contexts/models/model.hpp>
#include <overdub/contexts/models/moves.hpp>
#include <overdub/contexts/models/mutable_trace.hpp>
#include <overdub/contexts/models/numbers.hpp>
#include <overdub/contexts/models/posterior.hpp>
#include <overdub/contexts/models/resimulation.hpp>
#include <overdub/contexts/models/sample.hpp>
#include <overdub/contexts/models/trace.hpp>
#include <overdub/contexts/models/trace_translator.hpp>
#include <overdub/core/exact_math.hpp>
