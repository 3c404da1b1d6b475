#include <overdub/execute/host.hpp>
#include <overdub/jit/executor.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace overdub::jit {
namespace {

class compiler final : public executor {
public:
  explicit compiler(options o) : options_(std::move(o)) {
    name_ = "jit -O" + std::to_string(options_.optimisation);
    if (options_.debug) name_ += " debug";
    if (!options_.cpu.empty()) name_ += " " + options_.cpu + " " + options_.features;
    add(" before ", options_.before_optimisation);
    add(" after ", options_.after_optimisation);
  }
  std::string const& name() const override { return name_; }
  std::shared_ptr<execute::code const> prepare(ir::program const& p) const override {
    return detail::compile(p, p.entry, {}, options_);
  }

private:
  // A callback without a name is unique.
  void add(char const* when, module_callback const& callback) {
    static std::atomic<std::uint64_t> unnamed{0};
    if (!callback.run) return;
    name_ += when + std::to_string(callback.name.size()) + ':' + callback.name;
    if (callback.name.empty()) name_ += std::to_string(++unnamed);
  }

  options options_;
  std::string name_;
};

} // namespace

std::shared_ptr<executor const> compiled(options const& o) { return std::make_shared<compiler const>(o); }

} // namespace overdub::jit
