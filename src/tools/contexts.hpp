// The contexts that overdub-opt can rewrite programs in. They are chosen when it is compiled: a context is a C++ type.
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

/// What contexts keep while programs that were rewritten in them are run: hooks are called on objects of contexts.
struct observed {
  explicit observed(std::ostream& stream) : out(&stream) {}

  std::ostream* out; // what hooks write
  std::vector<std::shared_ptr<void>> kept;
  std::vector<std::function<void(std::ostream&)>> reports; // what was seen since the last report

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

/// A context. A new one is a row in contexts.cpp, and a source in contexts/ that makes its programs: each is compiled
/// alone, since overdub(context, program) takes the compiler long.
struct context_row {
  std::string_view name;
  std::string_view what; // it does
  ir::program (*rewrite)(ir::program const&, observed&);
};
/// None, where they were left out (OVERDUB_TOOLS_CONTEXTS).
std::span<context_row const> contexts();

ir::program in_forward(ir::program const&, observed&);
ir::program in_fast_math(ir::program const&, observed&);
ir::program in_reverse(ir::program const&, observed&);
ir::program in_count(ir::program const&, observed&);

} // namespace overdub::tools
