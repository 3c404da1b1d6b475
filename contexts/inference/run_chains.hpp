// run_chains: chains of any transition kernel on threads. What they give depends on the settings and the key alone, and on no thread.
// It needs the headers of random.hpp.
#pragma once

#include <overdub/contexts/inference/chain_run.hpp>
#include <overdub/contexts/random.hpp>

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

/// What a kernel tells of a transition.
struct kernel_statistics {
  double log_density = 0; ///< at the draw
  double acceptance = 0;  ///< of the moves of this transition, their mean: 0 to 1
};

/// One chain of any Markov transition. `k.transition(key)` makes a transition, with random numbers of this key and of the keys below
/// it alone; `k.names()` are the names of the numbers of the state that `k.report(out)` writes. A kernel may have
/// `k.adapt(iteration, of)`, which is called after each transition of the warm-up, the iteration counted from 0: after it, a kernel
/// that draws should adapt no more. It is used by one thread at a time, and what it throws ends the run.
template <class K>
concept transition_kernel = std::move_constructible<K> &&
    requires(K& k, random_key const& key, std::span<double> out) {
  { k.transition(key) } -> std::convertible_to<kernel_statistics>;
  { k.names() } -> std::convertible_to<std::vector<std::string>>;
  k.report(out);
};

/// A function that makes the kernel of a chain, chains counting from 0, in its starting state. It is called by many threads at once.
template <class F>
concept kernel_maker = std::invocable<F const&, std::size_t, random_key const&> &&
    transition_kernel<std::invoke_result_t<F const&, std::size_t, random_key const&>>;

namespace running {

// A chain of a kernel, as `run` has it.
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

/// Runs chains on threads, and returns their draws. Chain c is the kernel make(c, key.at(c).transition(0)), and takes the keys
/// key.at(c).transition(t) for its transitions t = 1, 2, ...: the draws are the same on any number of threads, and the beginning of
/// a longer run. Of the sampler's columns, lp__ and accept_stat__ are the kernel's, and the others 0. The first chain is made before
/// all else, since its variables are those of the draws. Errors and files are those of `sample`: a sampling_error has the draws.
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
        // A key that is no seed alone cannot be made of its first word.
        bool const seeded = key == random_key(key.words()[0]);
        return running::lines_of(
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
