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
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
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

// A chain of a kernel, with the interface that `run` requires.
template <transition_kernel K>
class kernel_chain {
public:
  kernel_chain(K kernel, random_key const& key, std::size_t warmup)
      : kernel_(std::move(kernel)), key_(key), warmup_(warmup) {}

  template <class F>
  bool begin(F const& stopped) const {
    return !stopped();
  }
  sampler_statistics warm_up(std::uint64_t t) {
    sampler_statistics const statistics = transition(t);
    if constexpr (requires { kernel_.adapt(warmup_, warmup_); })
      kernel_.adapt(static_cast<std::size_t>(t - 1), warmup_);
    return statistics;
  }
  void warmed_up(chain_record&) const {}
  sampler_statistics transition(std::uint64_t t) {
    kernel_statistics const made = kernel_.transition(key_.transition(t));
    return {.log_density = made.log_density, .accept_statistic = made.acceptance};
  }
  void report(std::span<double> out) { kernel_.report(out); }

private:
  K kernel_;
  random_key key_;
  std::size_t warmup_;
};

} // namespace running

/// Runs chains on threads, and returns their draws. Chain c is the kernel make(c, key.at(c).transition(0)). Its transitions t = 1, 2, ...
/// use the keys key.at(c).transition(t): the draws are the same on any number of threads, and a prefix of those of a longer run. Of the
/// sampler's columns, lp__ and accept_stat__ are the kernel's, and the others are 0. The first chain is made before files are opened, since
/// its variables are those of the draws. Errors and files are those of `sample`: a sampling_error has the draws.
template <kernel_maker F>
draws run_chains(F const& make, run_settings const& settings, random_key const& key) {
  using kernel = std::invoke_result_t<F const&, std::size_t, random_key const&>;
  running::check(settings);
  if (settings.chains == 0) return {};
  auto const begin = [&](std::size_t c) { return make(c, key.at(c).transition(0)); };
  std::optional<kernel> first;
  std::vector<std::string> names;
  try {
    first.emplace(begin(0));
    names = first->names();
  } catch (...) {
    throw sampling_error(
        std::make_shared<draws const>(std::vector<std::string>{}, settings.chains), std::current_exception(),
        0);
  }
  return running::run(
      settings, names,
      [&](std::uint64_t id) {
        // Only a key without an address can be reproduced from a seed.
        bool const seeded = key == random_key(key.words()[0]);
        return running::setting_lines(
            settings, id, {{"algorithm", "fixed_param", 2}},
            running::seed_lines(seeded ? std::optional(key.words()[0]) : std::nullopt));
      },
      [&](std::size_t c) {
        kernel made = c == 0 ? std::move(*first) : begin(c);
        if (c > 0 && std::vector<std::string>(made.names()) != names)
          throw inference_error(
              message("overdub: the kernel has other names than that of chain 1: all chains "
                      "report the same variables"));
        return running::kernel_chain<kernel>(std::move(made), key.at(c), settings.warmup);
      });
}

} // namespace overdub::inference
