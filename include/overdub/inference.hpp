// Bayesian inference: Hamiltonian Monte Carlo and NUTS of log densities, their adaptation, chains of any kernel, particle filters,
// variational inference, elliptical slice sampling, checks of samplers, diagnostics and files of draws. Dense metrics need Eigen: include
// inference/dense_metric.hpp for them.
#pragma once

#include <overdub/inference/adaptation.hpp>
#include <overdub/inference/calibration.hpp>
#include <overdub/inference/chain_run.hpp>
#include <overdub/inference/chains.hpp>
#include <overdub/inference/csv.hpp>
#include <overdub/inference/diagnostics.hpp>
#include <overdub/inference/draws.hpp>
#include <overdub/inference/elliptical_slice.hpp>
#include <overdub/inference/hmc.hpp>
#include <overdub/inference/nuts.hpp>
#include <overdub/inference/on_threads.hpp>
#include <overdub/inference/particles.hpp>
#include <overdub/inference/progress.hpp>
#include <overdub/inference/run_chains.hpp>
#include <overdub/inference/streams.hpp>
#include <overdub/inference/summary.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/inference/variational.hpp>
