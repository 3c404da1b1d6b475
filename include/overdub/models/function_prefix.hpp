// The prefixes of the names of a distribution's functions in a model's program.
#pragma once

#include <overdub/core/requirements.hpp>

#include <string_view>

/// A choice of the distribution normal(mean, sd) is an operation `sample`, whose program has the functions
///
///   @"log_density of normal"(x, mean, sd)    its log density
///   @"constrain normal"(y, mean, sd)         x for an unconstrained y, and log |det dx/dy|; of continuous distributions
///   @"unconstrain normal"(x, mean, sd)       y
///   @"bounds of binomial"(trials, p)         the minimum and the maximum x; of distributions of finitely many integers or bools
///   "draw normal(f64, f64)"                  a host function that draws x; its object is a random_generator
namespace overdub::models::function_prefix {

inline constexpr std::string_view log_density = "log_density of ";
inline constexpr std::string_view constrain = "constrain ";
inline constexpr std::string_view unconstrain = "unconstrain ";
inline constexpr std::string_view bounds = "bounds of ";
inline constexpr std::string_view draw = "draw ";

} // namespace overdub::models::function_prefix
