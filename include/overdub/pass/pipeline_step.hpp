// A step of a user's pipeline: a pass of overdub's by name, or a function on programs. compile_options::passes is a list of
// steps.
#pragma once

#include <overdub/call/types.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::pass {

/// A step. Steps with equal keys must do the same: the compile cache uses the key.
class pipeline_step {
public:
  /// A pass of pipeline.hpp, or "default_pipeline": all of them, in the default order.
  pipeline_step(char const* name) : pipeline_step(std::string(name)) {}
  pipeline_step(std::string name);

  /// A user's pass, called with ir::program&. Its key is the type of a function without captures, or the address of a
  /// function pointer. The return value is ignored.
  template <class F>
  requires std::is_invocable_v<F const&, ir::program&> pipeline_step(std::string name, F own)
      : pipeline_step(std::move(name), std::move(own), std::string()) {
    static_assert(
        std::is_empty_v<F> || std::is_pointer_v<F>,
        "overdub: a pass that captures something is known by its fingerprint; give a text that identifies "
        "what it captured: pipeline_step(name, function, fingerprint)");
  }
  /// A pass with captures. The fingerprint must contain everything that determines what the pass does.
  template <class F>
  requires std::is_invocable_v<F const&, ir::program&>
  pipeline_step(std::string name, F own, std::string const& fingerprint) : name_(std::move(name)) {
    append(name_);
    void const* const type = &overdub::detail::type_key<F>;
    key_.append(reinterpret_cast<char const*>(&type), sizeof type);
    if constexpr (std::is_pointer_v<F>) key_.append(reinterpret_cast<char const*>(&own), sizeof own);
    append(fingerprint);
    run_ = [own = std::move(own)](ir::program& p) { static_cast<void>(own(p)); };
  }

  std::string const& name() const { return name_; }
  /// Whether it is a user's function.
  bool is_own() const { return run_ != nullptr; }
  void run(ir::program& p) const { run_(p); }
  /// The key, as bytes; no key is a prefix of another.
  std::string const& key() const { return key_; }

private:
  void append(std::string const& text);

  std::string name_;
  std::string key_;
  std::function<void(ir::program&)> run_;
};

/// The pipeline for programs that are compiled with default options.
std::vector<pipeline_step> default_steps();

} // namespace overdub::pass
