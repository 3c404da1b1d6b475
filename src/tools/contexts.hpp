// The contexts in which overdub-opt rewrites programs. They are fixed at compile time, since a context is a C++ type.
#pragma once

#include <overdub/ir/program.hpp>

#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::tools {

/// The state of contexts during runs of rewritten programs: hooks are called on context objects.
struct observed {
  explicit observed(std::ostream& stream) : out(&stream) {}

  std::ostream* out; // the output of hooks
  std::vector<std::shared_ptr<void>> kept;
  std::vector<std::function<void(std::ostream&)>> reports; // print what was observed since the last report

  /// A context that lives as long as this.
  template <class Context, class... A>
  Context& keep(A&&... a) {
    auto made = std::make_shared<Context>(std::forward<A>(a)...);
    kept.push_back(made);
    return *made;
  }
  void report() {
    for (auto const& each : reports) each(*out);
  }
};

/// A context. To add one, add a row in contexts.cpp, and a source in contexts/ that rewrites programs: each is compiled
/// alone, since overdub(context, program) is slow to compile.
struct context_row {
  std::string_view name;
  std::string_view what; // a description
  ir::program (*rewrite)(ir::program const&, observed&);
};
/// Empty if contexts are disabled (OVERDUB_TOOLS_CONTEXTS).
std::span<context_row const> contexts();

ir::program in_forward(ir::program const&, observed&);
ir::program in_fast_math(ir::program const&, observed&);
ir::program in_reverse(ir::program const&, observed&);
ir::program in_count(ir::program const&, observed&);

} // namespace overdub::tools
