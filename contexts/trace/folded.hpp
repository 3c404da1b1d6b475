// Traces as folded stacks: a line for each call path, "thread;outer;inner 1234", with the own nanoseconds of the innermost
// call. flamegraph.pl, inferno and speedscope draw them.
#pragma once

#include <overdub/contexts/profile/folded_name.hpp>
#include <overdub/contexts/trace/writer.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::contexts::tracing {

/// Memory: a node for each call path.
class folded_writer final : public trace_writer {
public:
  void thread(traced_thread const& t) override {
    threads_.resize(t.number + 1);
    threads_[t.number].name = t.name;
    threads_[t.number].stack.push_back({new_node(), 0, 0});
    threads_[t.number].root = threads_[t.number].stack[0].node;
  }
  void begin(
      std::uint32_t thread, std::uint64_t time, callee_info const& callee, std::span<record const>) override {
    auto& stack = threads_[thread].stack;
    auto const [at, added] = nodes_[stack.back().node].calls.try_emplace(callee.name, nodes_.size());
    std::size_t const called = at->second;
    if (added) new_node();
    stack.push_back({called, time, 0});
  }
  void end(std::uint32_t thread, std::uint64_t time, bool, record const*) override {
    auto& stack = threads_[thread].stack;
    open_span const span = stack.back();
    stack.pop_back();
    std::uint64_t const took = time - span.begin;
    nodes_[span.node].nanoseconds += took - span.inside;
    nodes_[span.node].ended = true;
    stack.back().inside += took;
  }
  void lost(std::uint32_t thread, std::uint64_t, std::uint64_t records) override {
    threads_[thread].lost += records;
  }
  void finish() override {
    for (thread_spans const& t : threads_) append(folded_name(name_with_losses(t.name, t.lost)), t.root);
  }

private:
  struct node {
    std::map<std::string_view, std::size_t> calls;
    std::uint64_t nanoseconds = 0;
    bool ended = false;
  };
  struct open_span {
    std::size_t node;
    std::uint64_t begin, inside; // inside: the time of nested calls
  };
  struct thread_spans {
    std::string name;
    std::size_t root = 0;
    std::uint64_t lost = 0;
    std::vector<open_span> stack;
  };

  std::size_t new_node() {
    nodes_.emplace_back();
    return nodes_.size() - 1;
  }
  void append(std::string const& path, std::size_t at) {
    if (nodes_[at].ended) {
      text_ += path;
      text_ += ' ';
      append_number(text_, nodes_[at].nanoseconds);
      text_ += '\n';
    }
    for (auto const& [name, call] : nodes_[at].calls) append(path + ';' + folded_name(name), call);
  }

  std::vector<node> nodes_;
  std::vector<thread_spans> threads_;
};

} // namespace overdub::contexts::tracing
