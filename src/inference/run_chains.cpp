#include <overdub/inference/run_chains.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::inference::running {

namespace {

class kernel_chain final : public any_chain {
public:
  kernel_chain(std::unique_ptr<any_kernel> kernel, random_key const& key, std::size_t warmup)
      : kernel_(std::move(kernel)), key_(key), warmup_(warmup) {}

  bool begin(std::function<bool()> const& stopped) override { return !stopped(); }
  sampler_statistics warm_up(std::uint64_t t) override {
    sampler_statistics const statistics = transition(t);
    kernel_->adapt(static_cast<std::size_t>(t - 1), warmup_);
    return statistics;
  }
  sampler_statistics transition(std::uint64_t t) override {
    kernel_statistics const made = kernel_->transition(key_.transition(t));
    return {.log_density = made.log_density, .accept_statistic = made.acceptance};
  }
  void report(std::span<double> out) override { kernel_->report(out); }

private:
  std::unique_ptr<any_kernel> kernel_;
  random_key key_;
  std::size_t warmup_;
};

} // namespace

draws run_kernels(
    std::function<std::unique_ptr<any_kernel>(std::size_t c, random_key const& key)> const& make,
    run_settings const& settings, random_key const& key) {
  check(settings);
  if (settings.chains == 0) return {};
  auto const begin = [&](std::size_t c) { return make(c, key.at(c).transition(0)); };
  std::unique_ptr<any_kernel> first;
  std::vector<std::string> names;
  try {
    first = begin(0);
    names = first->names();
  } catch (...) {
    throw sampling_error(
        std::make_shared<draws const>(std::vector<std::string>{}, settings.chains), std::current_exception(),
        0);
  }
  return run(
      settings, names,
      [&](std::uint64_t id) {
        // Only a key without an address can be reproduced from a seed.
        bool const seeded = key == random_key(key.words()[0]);
        return setting_lines(
            settings, id, {{"algorithm", "fixed_param", 2}},
            seed_lines(seeded ? std::optional(key.words()[0]) : std::nullopt));
      },
      [&](std::size_t c) {
        std::unique_ptr<any_kernel> made = c == 0 ? std::move(first) : begin(c);
        if (c > 0 && made->names() != names)
          throw inference_error(
              message("overdub: the kernel has other names than that of chain 1: all chains "
                      "report the same variables"));
        return std::make_unique<kernel_chain>(std::move(made), key.at(c), settings.warmup);
      });
}

} // namespace overdub::inference::running
