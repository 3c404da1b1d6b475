// count: how many calls a program makes, of functions and of primitives; how many of chosen callees; or how many of each callee,
// and along each edge from a caller to a callee.
#pragma once

#include <overdub/call/keep_loaded.hpp>
#include <overdub/call/named_functions.hpp>
#include <overdub/overdub.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::contexts {

/// Counts calls. A call of a function that an outer context derived, such as "norm.forward", counts as a call of a function.
struct count : context {
  using observes_any_callee = count;

  long functions = 0;
  long primitives = 0;
  /// Calls of named functions and native functions with plain arguments, which no context sees. Counted if counts_unseen_calls.
  long unseen_calls = 0;

  long calls() const { return functions + primitives; }
  void unseen(std::string_view, std::string_view) { ++unseen_calls; }

  void before(function auto, auto const&...) { ++functions; }
  void before(primitive auto, auto const&...) { ++primitives; }

  count fork() { return {}; }
  void join(count&& other) {
    functions += other.functions;
    primitives += other.primitives;
    unseen_calls += other.unseen_calls;
  }
};

/// Counts the calls of some callees only: count_of<decltype(norm), overdub::sin_t>. A function that an outer context derived counts as the
/// original one.
template <class... Callees>
struct count_of : context {
  using callees = types<Callees...>;
  std::array<long, sizeof...(Callees)> calls{};

  /// The calls of a callee so far.
  template <callee F>
  long operator()(F const&) const {
    return calls[position<F>()];
  }

  template <callee F>
  requires(named_by<F, Callees> || ...) void before(F, auto const&...) { ++calls[position<F>()]; }

  count_of fork() { return {}; }
  void join(count_of&& other) {
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i] += other.calls[i];
  }

private:
  template <class F>
  static consteval std::size_t position() {
    static_assert((named_by<F, Callees> || ...), "overdub: this callee is not among those of count_of<...>");
    std::size_t index = 0;
    (void)((named_by<F, Callees> || (++index, false)) || ...);
    return index;
  }
};

/// Counts the calls of each callee, and of each callee by each caller, by their names. A caller is the function
/// whose body makes the call; the caller of a call outside of all functions is "".
struct count_each : context {
  using observes_any_callee = count_each;

  /// The number of calls of a callee so far.
  long calls(std::string_view callee) const {
    auto const found = callees_.find(callee);
    return found == callees_.end() ? 0 : found->second;
  }
  /// The number of calls of `callee` that the body of `caller` made.
  long calls(std::string_view caller, std::string_view callee) const {
    auto const found = edges_.find({caller, callee});
    return found == edges_.end() ? 0 : found->second;
  }
  /// All numbers, sorted by name: of each callee; of each caller and callee.
  std::map<std::string_view, long> const& callees() const { return callees_; }
  std::map<std::pair<std::string_view, std::string_view>, long> const& edges() const { return edges_; }
  /// The calls with plain arguments, which no context sees, of each caller and callee. Counted if counts_unseen_calls.
  std::map<std::pair<std::string_view, std::string_view>, long> const& unseen_calls() const {
    return unseen_calls_;
  }

  template <callee F>
  void before(F const& f, auto const&...) {
    std::string_view const callee = detail::kept_name(f);
    ++callees_[callee];
    ++edges_[{running_.empty() ? std::string_view() : running_.back(), callee}];
    if constexpr (function<F>) running_.push_back(callee);
  }
  void after(function auto, auto const&, auto const&...) { running_.pop_back(); }
  void failed(function auto, std::exception_ptr const&, auto const&...) { running_.pop_back(); }
  void unseen(std::string_view callee, std::string_view caller) {
    detail::keep_loaded(); // the names are in the memory of this shared object
    ++unseen_calls_[{caller, callee}];
  }

  count_each fork() const {
    count_each one;
    if (!running_.empty()) one.running_.push_back(running_.back());
    return one;
  }
  void join(count_each&& other) {
    for (auto const& [name, n] : other.callees_) callees_[name] += n;
    for (auto const& [edge, n] : other.edges_) edges_[edge] += n;
    for (auto const& [edge, n] : other.unseen_calls_) unseen_calls_[edge] += n;
  }

private:
  std::map<std::string_view, long> callees_;
  std::map<std::pair<std::string_view, std::string_view>, long> edges_, unseen_calls_;
  std::vector<std::string_view> running_;
};

} // namespace overdub::contexts
