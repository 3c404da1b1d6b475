// run_chains: chains of any transition kernel on threads. The draws depend on the settings and the key alone, and not on the number of
// threads. It needs the headers of random.hpp.
#pragma once

#include <overdub/inference/chain_run.hpp>
#include <overdub/random.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace overdub::inference {

/// The statistics of a transition.
struct kernel_statistics {
  double log_density = 0; ///< at the draw
  double acceptance = 0;  ///< the mean acceptance rate of this transition's proposals, from 0 to 1
};

/// A Markov transition kernel with its state. `k.transition(key)` makes a transition, with random numbers of this key and of the keys below
/// it alone. `k.names()` are the names of the numbers that `k.report(out)` writes. A kernel may have `k.adapt(iteration, warmup)`, which is
/// called after each transition of the warm-up, with the iteration counted from 0; a kernel should not adapt afterwards. It is used by one
/// thread at a time. An exception of a kernel ends the run.
template <class K>
concept transition_kernel = std::move_constructible<K> &&
    requires(K& k, random_key const& key, std::span<double> out) {
  { k.transition(key) } -> std::convertible_to<kernel_statistics>;
  { k.names() } -> std::convertible_to<std::vector<std::string>>;
  k.report(out);
};

/// A function that returns the kernel of a chain, counted from 0, in its initial state. Threads call it concurrently.
template <class F>
concept kernel_maker = std::invocable<F const&, std::size_t, random_key const&> &&
    transition_kernel<std::invoke_result_t<F const&, std::size_t, random_key const&>>;

namespace running {

// A transition kernel of any type.
class any_kernel {
public:
  virtual ~any_kernel() = default;
  virtual kernel_statistics transition(random_key const& key) = 0;
  virtual void adapt(std::size_t iteration, std::size_t warmup) = 0;
  virtual std::vector<std::string> names() = 0;
  virtual void report(std::span<double> out) = 0;
};
template <transition_kernel K>
class kernel_of final : public any_kernel {
public:
  template <class F>
  kernel_of(F const& make, std::size_t c, random_key const& key) : kernel_(make(c, key)) {}

  kernel_statistics transition(random_key const& key) override { return kernel_.transition(key); }
  void adapt(std::size_t iteration, std::size_t warmup) override {
    if constexpr (requires { kernel_.adapt(iteration, warmup); }) kernel_.adapt(iteration, warmup);
  }
  std::vector<std::string> names() override { return kernel_.names(); }
  void report(std::span<double> out) override { kernel_.report(out); }

private:
  K kernel_;
};

// run_chains of the kernels that make(c, key) returns.
draws run_kernels(
    std::function<std::unique_ptr<any_kernel>(std::size_t c, random_key const& key)> const& make,
    run_settings const& settings, random_key const& key);

} // namespace running

/// Runs chains on threads, and returns their draws. Chain c is the kernel make(c, key.at(c).transition(0)). Its transitions t = 1, 2, ...
/// use the keys key.at(c).transition(t): the draws are the same on any number of threads, and a prefix of those of a longer run. Of the
/// sampler's columns, lp__ and accept_stat__ are the kernel's, and the others are 0. The first chain is made before files are opened, since
/// its variables are those of the draws. Errors and files are those of `sample`: a sampling_error has the draws.
template <kernel_maker F>
draws run_chains(F const& make, run_settings const& settings, random_key const& key) {
  using kernel = std::invoke_result_t<F const&, std::size_t, random_key const&>;
  return running::run_kernels(
      [&](std::size_t c, random_key const& k) -> std::unique_ptr<running::any_kernel> {
        return std::make_unique<running::kernel_of<std::remove_cvref_t<kernel>>>(make, c, k);
      },
      settings, key);
}

} // namespace overdub::inference
