// profile: a context that measures time and allocations of each function and call path.
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
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <tsl/robin_map.h>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::contexts {

/// Measures the calls of functions and of native functions. Clock meets the standard's requirements for a clock. Each call costs two
/// readings of the clock; the time that the profile itself takes is part of the caller's self time. Not thread-safe: `parallel_map` gives
/// each thread a profile of its own, and joins them.
template <class Clock>
struct profile_by : context {
  static constexpr std::string_view name = "profile";
  using duration = std::chrono::nanoseconds;

  /// A function that returns the number of this thread's allocations so far, such as allocations_of_thread (profile/allocations.hpp). If
  /// null, allocations are not counted.
  using allocation_counter = long (*)();
  allocation_counter allocations = nullptr;

  /// The measurements of a function. Total times and allocations include callees; for a recursive function, they are those
  /// of the outermost calls.
  struct function_row {
    std::string_view name;
    long calls = 0;
    duration total{}, self{};
    long allocations = 0, self_allocations = 0;
    durations each; // the distribution of total times: each.percentile(0.99), each.largest()
  };
  /// The measurements of a call path: names, outermost first.
  struct path_row {
    std::vector<std::string_view> path;
    long calls = 0;
    duration total{}, self{};
    long allocations = 0, self_allocations = 0;
  };

  profile_by() { nodes_.emplace_back(); }
  explicit profile_by(allocation_counter counter) : profile_by() { allocations = counter; }

  /// A row for each function, by descending self time. O(n log n).
  std::vector<function_row> functions() const {
    std::vector<function_row> rows;
    for (auto const& f : functions_) rows.push_back(f.row);
    std::ranges::sort(rows, [](auto const& a, auto const& b) {
      return std::tie(b.self, a.name) < std::tie(a.self, b.name);
    });
    return rows;
  }
  /// A row for each call path, callers before callees. O(sum of the lengths of the paths).
  std::vector<path_row> paths() const {
    std::vector<path_row> rows;
    rows.reserve(nodes_.size() - 1);
    std::vector<std::string_view> path;
    for_each_node([&](std::size_t at, std::size_t depth) {
      path.resize(depth);
      if (at == root) return;
      path.push_back(functions_[nodes_[at].function].row.name);
      rows.push_back(nodes_[at].row);
      rows.back().path = path;
    });
    return rows;
  }

  /// The calls with plain arguments, which no context sees and whose time is part of their caller's self time, of each caller and callee.
  /// Counted if counts_unseen_calls.
  std::map<std::pair<std::string_view, std::string_view>, long> const& unseen_calls() const {
    return unseen_calls_;
  }

  /// A table of the functions, and the calls that were not seen.
  friend std::ostream& operator<<(std::ostream& out, profile_by const& p) {
    auto const line = [&](std::string_view function, std::string calls, auto... times) {
      out << io::left_aligned(std::string(function), 20) << ' ' << io::right_aligned(std::move(calls), 9);
      ((out << ' ' << io::right_aligned(std::move(times), 10)), ...);
    };
    using namespace std::string_literals;
    line("function", "calls", "self"s, "total"s, "median"s, "99 %"s, "largest"s);
    out << (p.allocations ? "  self allocations\n" : "\n");
    for (auto const& r : p.functions()) {
      line(
          r.name, io::number_text(r.calls), text(r.self), text(r.total), text(r.each.percentile(0.5)),
          text(r.each.percentile(0.99)), text(r.each.largest()));
      if (p.allocations) out << "  " << io::number_text(r.self_allocations);
      out << '\n';
    }
    for (auto const& [names, calls] : p.unseen_calls_)
      out << "not seen: " << names.second << ", called with plain arguments in " << names.first << ", "
          << io::number_text(calls) << (calls == 1 ? " time\n" : " times\n");
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
    long const allocations_before = allocated();
    std::size_t const node = child(current(), detail::kept_name(f));
    running_.push_back({node, {}, allocations_before, {}, 0});
    ++functions_[nodes_[node].function].running;
    overhead_ += allocated() - allocations_before;
    running_.back().start = Clock::now(); // last, so that the profile's own work is not measured
  }
  template <callee F>
  requires(function<F> || native_leaf<F>) void after(F const&, auto const&, auto const&...) { end(); }
  template <callee F>
  requires(function<F> || native_leaf<F>) void failed(F const&, std::exception_ptr const&, auto const&...) {
    end();
  }
  void unseen(std::string_view callee, std::string_view caller) {
    detail::keep_loaded(); // the names are in the memory of this shared object
    ++unseen_calls_[{caller, callee}];
  }

  /// For parallel_map: the calls of a thread are joined below the calling function, whose self time includes its wait for the threads.
  profile_by fork() const { return profile_by(allocations); }
  void join(profile_by const& other) {
    std::vector<std::size_t> here{current()}; // the nodes of the path, by depth
    other.for_each_node([&](std::size_t at, std::size_t depth) {
      if (at == root) return;
      here.resize(depth + 1);
      here.push_back(child(here.back(), other.functions_[other.nodes_[at].function].row.name));
      add(nodes_[here.back()].row, other.nodes_[at].row, true);
    });
    for (auto const& f : other.functions_) {
      auto& mine = functions_[function_of(f.row.name)];
      add(mine.row, f.row, mine.running == 0);
      mine.row.each.add(f.row.each);
    }
    for (auto const& [names, calls] : other.unseen_calls_) unseen_calls_[names] += calls;
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

  // This thread's allocations, without those of this profile.
  long allocated() const { return allocations ? allocations() - overhead_ : 0; }

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
    long const allocations_now = allocated();
    call const c = running_.back();
    running_.pop_back();
    function_row r;
    r.calls = 1;
    r.total = std::chrono::duration_cast<duration>(now - c.start);
    r.self = r.total - c.in_callees;
    r.allocations = allocations_now - c.allocations;
    r.self_allocations = r.allocations - c.allocations_in_callees;
    add(nodes_[c.node].row, r, true);
    measured& f = functions_[nodes_[c.node].function];
    add(f.row, r, --f.running == 0);
    f.row.each.add(r.total);
    if (!running_.empty()) {
      running_.back().in_callees += r.total;
      running_.back().allocations_in_callees += r.allocations;
    }
    overhead_ += allocated() - allocations_now;
  }
  static void add(auto& to, auto const& r, bool outermost) {
    to.calls += r.calls;
    to.self += r.self;
    to.self_allocations += r.self_allocations;
    if (!outermost) return;
    to.total += r.total;
    to.allocations += r.allocations;
  }

  // Calls f(node, depth) for all nodes, callers before callees; the depth of the root and of its children is 0. Recursive functions make
  // long paths.
  template <class F>
  void for_each_node(F const& f) const {
    std::vector<std::pair<std::size_t, std::size_t>> open{{root, 0}};
    while (!open.empty()) {
      auto const [at, depth] = open.back();
      open.pop_back();
      f(at, depth);
      std::vector<std::size_t> const& children = nodes_[at].children;
      for (auto c = children.rbegin(); c != children.rend(); ++c)
        open.push_back({*c, at == root ? 0 : depth + 1});
    }
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
  std::map<std::pair<std::string_view, std::string_view>, long> unseen_calls_;
  long overhead_ = 0;
};

/// A profile of real time.
using profile = profile_by<std::chrono::steady_clock>;

} // namespace overdub::contexts
