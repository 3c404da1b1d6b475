// What updates of a model's choices run, and how long they take.
#pragma once

#include "demo.hpp"

#include <overdub/contexts/models/mcmc.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace demo {

namespace models = overdub::models;

/// The choices of a site move, one at a time.
struct update {
  std::string name; ///< "an assignment moves"
  std::string site;
};

/// What depends on what in the logarithm of a model's density. Each map, reduction and loop of the program is a node, and so are all
/// scalar operations between the same ones. What the program of an update runs is highlighted.
report::graph
dependence(models::model_core const& m, std::vector<std::string> const& arguments, update const& u);
/// What ran, as overdub says it.
report::listing explained(models::trace const& t, update const& u);
/// A row of microseconds for each update: all run again, and what is reached.
report::bars times(models::trace const& t, std::vector<update> const& all);
/// A row of the table of programs.
void count_programs(std::string const& name, models::model_core const& m, page& to);

} // namespace demo
