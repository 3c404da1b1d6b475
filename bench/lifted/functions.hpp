// Functions of ordinary C++, which know nothing of overdub: bench/lift.cpp compares them as clang compiles them with the programs that they
// are lifted to. They compute what the staged functions of models.hpp and adbench_models.hpp do.
#pragma once

namespace lifted {

/// A damped pendulum after n steps of the explicit Euler method.
double pendulum(long n, double angle, double speed, double friction);

/// The objective of a Gaussian mixture: k components, n points of d numbers. `scales`, `traces` and `terms` are scratch memory of d k, k
/// and k numbers.
double mixture(
    int d, int k, int n, double const* weights, double const* means, double const* diagonals,
    double const* factors, double const* points, double* scales, double* traces, double* terms);

/// The sum of the squares of the reprojection errors of n observations.
double adjustment(
    int n, double const* cameras, double const* points, double const* weights, double const* features,
    long const* of_camera, long const* of_point);

/// The loss of a recurrent network of two layers of b cells. `state` and `row` are scratch memory of 4 b and b numbers; `state` holds the
/// initial state.
double lstm(
    int b, int rows, double const* parameters, double const* others, double* state, double const* sequence,
    double* row);

} // namespace lifted
