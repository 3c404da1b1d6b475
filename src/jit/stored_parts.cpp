#include "stored_parts.hpp"

#include <overdub/execute/host_calls.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <cstring>

namespace overdub::jit {
namespace {

class writer {
public:
  std::string bytes;
  void number(std::size_t x) {
    auto const small = static_cast<std::uint32_t>(x);
    bytes.append(reinterpret_cast<char const*>(&small), sizeof small);
  }
  void numbers(std::vector<std::uint32_t> const& all) {
    number(all.size());
    for (std::uint32_t const x : all) number(x);
  }
};

class reader {
public:
  explicit reader(std::span<char const> bytes) : left_(bytes) {}
  bool is_good = true;
  bool is_at_end() const { return left_.empty(); }
  std::uint32_t number() {
    std::uint32_t x = 0;
    if (left_.size() < sizeof x) return is_good = false, 0;
    std::memcpy(&x, left_.data(), sizeof x);
    left_ = left_.subspan(sizeof x);
    return x;
  }
  // How many numbers follow, at least so many for each of them.
  std::uint32_t count(std::size_t numbers) {
    std::uint32_t const n = number();
    if (n > left_.size() / (numbers * sizeof n)) return is_good = false, 0;
    return n;
  }
  std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> all(count(1));
    for (std::uint32_t& x : all) x = number();
    return all;
  }

private:
  std::span<char const> left_;
};

// Operations are counted in their order: their numbers are no part of a program's text.
std::vector<ir::node_id> nodes_of(ir::function const& f) {
  std::vector<ir::node_id> all;
  ir::walk(f, ir::function::body, [&](ir::node_id n) { all.push_back(n); });
  return all;
}

void write_nodes(
    writer& to, ir::program const& p, std::span<ir::function_id const> functions,
    std::span<program_node const> all) {
  to.number(all.size());
  for (program_node const& each : all) {
    auto const nodes = nodes_of(p[each.function]);
    to.number(static_cast<std::size_t>(
        std::find(functions.begin(), functions.end(), each.function) - functions.begin()));
    to.number(static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), each.node) - nodes.begin()));
  }
}
std::vector<program_node>
read_nodes(reader& from, ir::program const& p, std::span<ir::function_id const> functions, ir::op code) {
  std::vector<program_node> all;
  for (std::uint32_t left = from.count(2); left > 0 && from.is_good; --left) {
    std::uint32_t const function = from.number(), position = from.number();
    from.is_good = from.is_good && function < functions.size();
    if (!from.is_good) break;
    ir::function const& f = p[functions[function]];
    auto const nodes = nodes_of(f);
    from.is_good = position < nodes.size() && f[nodes[position]].code == code;
    if (from.is_good) all.push_back({functions[function], nodes[position]});
  }
  return all;
}

} // namespace

std::optional<std::string> write_parts(
    execute::code const& c, ir::program const& p, std::span<ir::function_id const> functions,
    std::span<program_node const> hosts, std::span<program_node const> samples) {
  if (!c.texts.empty() || !c.literals.empty() || c.instructions.size() != 1 ||
      hosts.size() != c.hosts.size() || samples.size() != c.samples.size())
    return {};
  writer to;
  to.number(c.functions.size() - 1);
  for (std::size_t k = 1; k < c.functions.size(); ++k) {
    // All members: one that is new does not compile here until it is stored, or is known to be the interpreter's.
    auto const& [entry, frame_bytes, parameter_words, literals, first_literal, literal_count, owners, inner] =
        c.functions[k];
    (void)entry, (void)frame_bytes, (void)literals, (void)first_literal, (void)literal_count;
    to.number(parameter_words);
    to.numbers(owners);
    to.numbers(inner);
  }
  to.numbers(c.lists);
  write_nodes(to, p, functions, hosts);
  write_nodes(to, p, functions, samples);
  return std::move(to.bytes);
}

bool read_parts(
    std::span<char const> bytes, execute::code& to, ir::program const& p,
    std::span<ir::function_id const> functions) {
  reader from(bytes);
  for (std::uint32_t left = from.count(3); left > 0 && from.is_good; --left) {
    execute::function_code f;
    f.parameter_words = from.number();
    f.owners = from.numbers();
    f.functions = from.numbers();
    to.functions.push_back(std::move(f));
  }
  to.lists = from.numbers();
  auto const hosts = read_nodes(from, p, functions, ir::op::host);
  auto const samples = read_nodes(from, p, functions, ir::op::sample);
  if (!from.is_good || !from.is_at_end()) return false;
  for (program_node const& each : hosts)
    to.hosts.push_back(execute::host_call_of(p, p[each.function], each.node, to, refuser{p, each.function}));
  for (program_node const& each : samples)
    to.samples.push_back(
        execute::sample_call_of(p, p[each.function], each.node, to, refuser{p, each.function}));
  return true;
}

} // namespace overdub::jit
