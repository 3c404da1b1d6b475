// Bayesian inference: Hamiltonian Monte Carlo and NUTS of log densities, their adaptation, chains of any kernel, particle filters,
// variational inference, elliptical slice sampling, checks of samplers, diagnostics and files of draws. Dense metrics need Eigen: include
// inference/dense_metric.hpp for them.
#pragma once

#include <overdub/contexts/inference/adaptation.hpp>
#include <overdub/contexts/inference/calibration.hpp>
#include <overdub/contexts/inference/chain_run.hpp>
#include <overdub/contexts/inference/chains.hpp>
#include <overdub/contexts/inference/csv.hpp>
#include <overdub/contexts/inference/diagnostics.hpp>
#include <overdub/contexts/inference/draws.hpp>
#include <overdub/contexts/inference/elliptical_slice.hpp>
#include <overdub/contexts/inference/hmc.hpp>
#include <overdub/contexts/inference/nuts.hpp>
#include <overdub/contexts/inference/on_threads.hpp>
#include <overdub/contexts/inference/particles.hpp>
#include <overdub/contexts/inference/progress.hpp>
#include <overdub/contexts/inference/run_chains.hpp>
#include <overdub/contexts/inference/streams.hpp>
#include <overdub/contexts/inference/summary.hpp>
#include <overdub/contexts/inference/target.hpp>
#include <overdub/contexts/inference/variational.hpp>
