#include <overdub/execute/host.hpp>
#include <overdub/jit/executor.hpp>

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
  }
  std::string const& name() const override { return name_; }
  std::shared_ptr<execute::code const> prepare(ir::program const& p) const override {
    return detail::compile(p, p.entry, {}, options_);
  }

private:
  options options_;
  std::string name_;
};

} // namespace

std::shared_ptr<executor const> compiled(options const& o) { return std::make_shared<compiler const>(o); }

} // namespace overdub::jit
