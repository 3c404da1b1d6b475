// no_u_turn: a Hamiltonian Monte Carlo kernel for some choices, given all others.
#pragma once

#include <overdub/inference/adaptation.hpp>
#include <overdub/models/moves.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace overdub::models {

/// no_u_turn{"mu", "tau"}: a transition of NUTS for all choices of some continuous sites, given all other choices (Hoffman and Gelman
/// 2014). What depends on other choices and on data alone is computed once per transition. Among kernels of other choices it is a step of
/// Gibbs sampling. Step size and diagonal metric are adapted during the warm-up; a copy is not adapted. Throws model_error for no sites,
/// for discrete, observed and conditional ones, and where a trajectory changes which choices are made.
class no_u_turn {
public:
  no_u_turn(
      std::initializer_list<std::string> addresses, inference::adaptation_settings const& adaptation = {});
  no_u_turn(no_u_turn const& other);
  no_u_turn(no_u_turn&&) noexcept;
  no_u_turn& operator=(no_u_turn const&) = delete;
  ~no_u_turn();
  selection moved() const;

  template <class Trace>
  void operator()(Trace& t, random_key const& key, move_record& record);
  void adapt(std::size_t iteration, std::size_t warmup);
  /// 0 before the first transition.
  double step_size() const;

private:
  struct target;
  struct state;

  std::vector<std::string> addresses_;
  inference::adaptation_settings settings_;
  std::unique_ptr<state> state_;
};

} // namespace overdub::models
