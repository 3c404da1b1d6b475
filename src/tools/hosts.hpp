// The host functions that programs can call under overdub-opt: print, identity, fail.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>

#include <deque>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

namespace overdub::tools {

/// A host function, on any data.
struct host_row {
  std::string_view name;
  std::string_view what; // it does
  std::vector<datum> (*run)(std::span<datum const>, std::ostream& out);
};
std::span<host_row const> host_functions();

/// Gives programs the host functions. They must not outlive it.
class host_binder {
public:
  /// `out`: what print writes to.
  explicit host_binder(std::ostream& out) : out_(&out) {}
  host_binder(host_binder const&) = delete;
  host_binder& operator=(host_binder const&) = delete;

  /// Binds the operations `host` of a program that name a function of the table, and have no other binding. One name may
  /// be called with several types: each gets a name with its types.
  void bind(ir::program& p);

private:
  struct bound {
    host_row const* row;
    std::ostream* out;
    std::vector<ir::type> arguments;
    std::vector<ir::type> results;
  };
  static void run(void* object, void const* const* arguments, void* const* results);

  std::ostream* out_;
  std::deque<bound> all_; // their addresses stay
};

} // namespace overdub::tools
