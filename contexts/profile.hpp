// profile: time and allocations by function, and by call path.
#pragma once

#include <overdub/call/keep_loaded.hpp>
#include <overdub/contexts/profile/durations.hpp>
#include <overdub/contexts/profile/folded_name.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <tsl/robin_map.h>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::contexts {

/// Measures the calls of functions and of native functions by a clock of the standard's form. Each call costs two readings
/// of the clock; time in hooks counts as the caller's own.
template <class Clock>
struct profile_by : context {
  static constexpr std::string_view name = "profile";
  using duration = std::chrono::nanoseconds;

  /// Returns the number of this thread's allocations so far, to count them: allocations_of_thread, of
  /// profile/allocations.hpp.
  using allocation_counter = long (*)();
  allocation_counter allocations = nullptr;

  /// The measurements of a function. Total times and allocations include callees; for a recursive function, they are those
  /// of the outermost calls.
  struct function_row {
    std::string_view name;
    long calls = 0;
    duration total{}, self{};
    long allocations = 0, own_allocations = 0;
    durations each; // of all calls: each.percentile(0.99), each.largest()
  };
  /// The measurements of a call path: names, outermost first.
  struct path_row {
    std::vector<std::string_view> path;
    long calls = 0;
    duration total{}, self{};
    long allocations = 0, own_allocations = 0;
  };

  profile_by() { nodes_.emplace_back(); }
  explicit profile_by(allocation_counter counter) : profile_by() { allocations = counter; }

  /// By function, in descending order of own time.
  std::vector<function_row> functions() const {
    std::vector<function_row> rows;
    for (auto const& f : functions_) rows.push_back(f.row);
    std::ranges::sort(rows, [](auto const& a, auto const& b) {
      return std::tie(b.self, a.name) < std::tie(a.self, b.name);
    });
    return rows;
  }
  /// By path, callers before callees.
  std::vector<path_row> paths() const {
    std::vector<path_row> rows;
    add_paths(rows, {}, root);
    return rows;
  }

  /// A table of the functions.
  friend std::ostream& operator<<(std::ostream& out, profile_by const& p) {
    auto const line = [&](std::string_view function, std::string calls, auto... times) {
      out << io::left_aligned(std::string(function), 20) << ' ' << io::right_aligned(std::move(calls), 9);
      ((out << ' ' << io::right_aligned(std::move(times), 10)), ...);
    };
    using namespace std::string_literals;
    line("function", "calls", "self"s, "total"s, "median"s, "99 %"s, "largest"s);
    out << (p.allocations ? "  allocations\n" : "\n");
    for (auto const& r : p.functions()) {
      line(
          r.name, io::number_text(r.calls), text(r.self), text(r.total), text(r.each.percentile(0.5)),
          text(r.each.percentile(0.99)), text(r.each.largest()));
      if (p.allocations) out << "  " << io::number_text(r.own_allocations);
      out << '\n';
    }
    return out;
  }
  /// Folded stacks, for flame graph tools: a line for each path, "outer;inner 1234", with the nanoseconds in the function
  /// itself.
  void write_folded(std::ostream& out) const {
    for (auto const& r : paths()) {
      for (std::size_t i = 0; i < r.path.size(); ++i) out << (i > 0 ? ";" : "") << folded_name(r.path[i]);
      out << ' ' << io::number_text(r.self.count()) << '\n';
    }
  }

  template <callee F>
  requires(function<F> || native_leaf<F>) void before(F const& f, auto const&...) {
    long const before = allocated();
    std::size_t const node = child(current(), detail::kept_name(f));
    ++functions_[nodes_[node].function].running;
    running_.push_back({node, {}, before, {}, 0});
    own_allocations_ += allocated() - before;
    running_.back().start = Clock::now(); // last, so that the profile's own work is not measured
  }
  template <callee F>
  requires(function<F> || native_leaf<F>) void after(F const&, auto const&, auto const&...) { end(); }
  template <callee F>
  requires(function<F> || native_leaf<F>) void failed(F const&, std::exception_ptr const&, auto const&...) {
    end();
  }

  /// Time in other threads counts there, and also for the function that waits for them.
  profile_by fork() const { return profile_by(allocations); }
  void join(profile_by&& other) {
    join_node(current(), other, root);
    for (auto const& f : other.functions_) {
      auto& mine = functions_[function_of(f.row.name)];
      add(mine.row, f.row, mine.running == 0);
      mine.row.each.add(f.row.each);
    }
  }

private:
  static constexpr std::size_t root = 0;
  struct call_node {
    std::size_t function = 0;
    std::vector<std::size_t> children;
    path_row row; // without its path
  };
  struct edge { // from a node to a callee
    std::size_t parent;
    std::string_view called;
    bool operator==(edge const&) const = default;
  };
  struct edge_hash {
    std::size_t operator()(edge const& e) const {
      return std::hash<std::string_view>()(e.called) ^ e.parent * std::size_t{0x9e3779b97f4a7c15};
    }
  };
  struct measured {
    function_row row;
    int running = 0; // active calls
  };
  struct call {
    std::size_t node;
    typename Clock::time_point start;
    long allocations;
    duration in_callees;
    long allocations_in_callees;
  };

  // Without the profile's own allocations.
  long allocated() const { return allocations ? allocations() - own_allocations_ : 0; }

  std::size_t current() const { return running_.empty() ? root : running_.back().node; }

  std::size_t function_of(std::string_view called) {
    auto const [found, is_new] = numbers_.try_emplace(called, functions_.size());
    if (is_new) functions_.push_back({{.name = called, .each = {}}, 0});
    return found->second;
  }
  std::size_t child(std::size_t parent, std::string_view called) {
    auto const [found, is_new] = children_.try_emplace(edge{parent, called}, nodes_.size());
    if (is_new) {
      nodes_.push_back({function_of(called), {}, {}});
      nodes_[parent].children.push_back(found->second);
    }
    return found->second;
  }

  void end() {
    auto const now = Clock::now();
    long const before = allocated();
    call const c = running_.back();
    running_.pop_back();
    function_row r;
    r.calls = 1;
    r.total = std::chrono::duration_cast<duration>(now - c.start);
    r.self = r.total - c.in_callees;
    r.allocations = before - c.allocations;
    r.own_allocations = r.allocations - c.allocations_in_callees;
    add(nodes_[c.node].row, r, true);
    measured& f = functions_[nodes_[c.node].function];
    add(f.row, r, --f.running == 0);
    f.row.each.add(r.total);
    if (!running_.empty()) {
      running_.back().in_callees += r.total;
      running_.back().allocations_in_callees += r.allocations;
    }
    own_allocations_ += allocated() - before;
  }
  static void add(auto& to, auto const& r, bool outermost) {
    to.calls += r.calls;
    to.self += r.self;
    to.own_allocations += r.own_allocations;
    if (!outermost) return;
    to.total += r.total;
    to.allocations += r.allocations;
  }

  void add_paths(std::vector<path_row>& rows, std::vector<std::string_view> path, std::size_t at) const {
    if (at != root) {
      path.push_back(functions_[nodes_[at].function].row.name);
      rows.push_back(nodes_[at].row);
      rows.back().path = path;
    }
    for (std::size_t const c : nodes_[at].children) add_paths(rows, path, c);
  }
  void join_node(std::size_t here, profile_by const& other, std::size_t there) {
    if (there != root) add(nodes_[here].row, other.nodes_[there].row, true);
    for (std::size_t const c : other.nodes_[there].children)
      join_node(child(here, other.functions_[other.nodes_[c].function].row.name), other, c);
  }

  static std::string text(duration d) {
    auto const ns = static_cast<double>(d.count());
    if (ns < 1e3) return io::number_text(d.count()) + " ns";
    if (ns < 1e6) return io::number_text(ns / 1e3, io::decimals(1)) + " us";
    if (ns < 1e9) return io::number_text(ns / 1e6, io::decimals(1)) + " ms";
    return io::number_text(ns / 1e9, io::decimals(1)) + " s";
  }

  std::vector<call_node> nodes_; // a tree, whose root is the caller of all outermost calls
  std::vector<measured> functions_;
  tsl::robin_map<edge, std::size_t, edge_hash> children_; // callee nodes
  tsl::robin_map<std::string_view, std::size_t> numbers_; // indices of functions
  std::vector<call> running_;
  long own_allocations_ = 0;
};

/// A profile of real time.
using profile = profile_by<std::chrono::steady_clock>;

} // namespace overdub::contexts
