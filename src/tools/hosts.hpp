// The host functions of overdub-opt: print, identity, fail.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>

#include <deque>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::tools {

/// A host function of data.
struct host_row {
  std::string_view name;
  std::string_view what; // a description
  std::vector<datum> (*run)(std::span<datum const>, std::ostream& out);
};
std::span<host_row const> host_functions();

/// Binds host functions to programs, which it must outlive.
class host_binder {
public:
  /// `out`: the output of print.
  explicit host_binder(std::ostream& out) : out_(&out) {}
  host_binder(host_binder const&) = delete;
  host_binder& operator=(host_binder const&) = delete;

  /// Binds the `host` operations of a program that name a function of the table and have no other binding. A name that is
  /// called with several types gets a name for each.
  void bind(ir::program& p);

  /// Binds a name, which must outlive the program, to a function that throws: what does not reach a call of it runs.
  static void bind_missing(ir::program& p, std::string const& name);

private:
  struct bound {
    host_row const* row;
    std::ostream* out;
    std::vector<ir::type> arguments;
    std::vector<ir::type> results;
  };
  static void run(void* object, void const* const* arguments, void* const* results);

  std::ostream* out_;
  std::deque<bound> all_; // with stable addresses
};

} // namespace overdub::tools
