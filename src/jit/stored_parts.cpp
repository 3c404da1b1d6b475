#include "stored_parts.hpp"

#include "refuse.hpp"

#include <overdub/implementation/execute/host_calls.hpp>
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
  // The number of following entries, of `numbers` numbers each at least.
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

// Operations by position: the index of their function in the key, and their own index in its order. Ids are not part of a
// program's text.
class places {
public:
  places(ir::program const& p, std::span<ir::function_id const> functions)
      : p_(p), functions_(functions), number_(p.functions.size()), nodes_(functions.size()),
        position_(functions.size()) {
    for (std::size_t k = 0; k < functions.size(); ++k) number_[index_of(functions[k])] = k;
  }

  void write(writer& to, std::span<program_node const> all) {
    to.number(all.size());
    for (program_node const& each : all) {
      std::size_t const function = number_[index_of(each.function)];
      (void)nodes(function);
      to.number(function);
      to.number(position_[function][index_of(each.node)]);
    }
  }
  /// Reads operations of one code.
  std::vector<program_node> read(reader& from, ir::op code) {
    std::vector<program_node> all;
    for (std::uint32_t left = from.count(2); left > 0 && from.is_good; --left) {
      std::uint32_t const function = from.number(), position = from.number();
      from.is_good = from.is_good && function < functions_.size() && position < nodes(function).size() &&
                     p_[functions_[function]][nodes(function)[position]].code == code;
      if (from.is_good) all.push_back({functions_[function], nodes(function)[position]});
    }
    return all;
  }

private:
  std::vector<ir::node_id> const& nodes(std::size_t function) {
    std::vector<ir::node_id>& all = nodes_[function];
    if (!all.empty()) return all;
    ir::function const& f = p_[functions_[function]];
    position_[function].resize(f.node_count());
    ir::walk(f, ir::function::body, [&](ir::node_id n) {
      position_[function][index_of(n)] = all.size();
      all.push_back(n);
    });
    return all;
  }

  ir::program const& p_;
  std::span<ir::function_id const> functions_;
  std::vector<std::size_t> number_;                // for each function
  std::vector<std::vector<ir::node_id>> nodes_;    // for each function of the key, on first use
  std::vector<std::vector<std::size_t>> position_; // for each operation
};

} // namespace

std::optional<std::string> write_parts(
    execute::code const& c, ir::program const& p, std::span<ir::function_id const> functions,
    std::span<program_node const> hosts, std::span<program_node const> samples) {
  if (!c.texts.empty() || !c.literals.empty() || c.instructions.size() != 1 ||
      hosts.size() != c.hosts.size() || samples.size() != c.samples.size())
    return {};
  writer to;
  to.number(c.interpreted != nullptr);
  to.number(c.functions.size() - 1);
  for (std::size_t k = 1; k < c.functions.size(); ++k) {
    // All members: adding one breaks this line until it is stored, or known to belong to the interpreter.
    auto const& [entry, frame_bytes, parameter_words, literals, first_literal, literal_count, results, owners, inner] =
        c.functions[k];
    (void)entry, (void)frame_bytes, (void)literals, (void)first_literal, (void)literal_count, (void)results;
    to.number(parameter_words);
    to.numbers(owners);
    to.numbers(inner);
  }
  to.numbers(c.lists);
  places of(p, functions);
  of.write(to, hosts);
  of.write(to, samples);
  return std::move(to.bytes);
}

bool read_parts(
    std::span<char const> bytes, execute::code& to, bool& looks_ahead, ir::program const& p,
    std::span<ir::function_id const> functions) {
  reader from(bytes);
  std::uint32_t const ahead = from.number();
  looks_ahead = ahead != 0;
  if (ahead > 1) return false;
  for (std::uint32_t left = from.count(3); left > 0 && from.is_good; --left) {
    execute::function_code f;
    f.parameter_words = from.number();
    f.owners = from.numbers();
    f.functions = from.numbers();
    to.functions.push_back(std::move(f));
  }
  to.lists = from.numbers();
  places of(p, functions);
  auto const hosts = of.read(from, ir::op::host);
  auto const samples = of.read(from, ir::op::sample);
  if (!from.is_good || !from.is_at_end()) return false;
  for (program_node const& each : hosts)
    to.hosts.push_back(execute::host_call_of(p, p[each.function], each.node, to, refuser{p, each.function}));
  for (program_node const& each : samples)
    to.samples.push_back(
        execute::sample_call_of(p, p[each.function], each.node, to, refuser{p, each.function}));
  return true;
}

} // namespace overdub::jit
