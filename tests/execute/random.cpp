// Random programs behave as in the reference: results to the bit, errors, and the host's observations, in order.
#include "pass/laws.hpp"
#include "reference_data.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/print.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/jit.hpp>
#endif

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace overdub;
using reference::failure;

struct host_failed : error {
  using error::error;
};

// The host functions of the reference.
class invented_host {
public:
  std::vector<std::string> log, samples;
  std::uint64_t total = 0;

  hosts functions() {
    hosts all;
    add(all, "pure", effect::pure);
    add(all, "may_fail", effect::may_fail);
    add(all, "reads", effect::reads_context);
    add(all, "adds", effect::accumulates);
    add(all, "prints", effect::ordered);
    return all.on_sample([this](sample_request const& asked) { return sample(asked); });
  }

private:
  static std::uint64_t mixed(std::uint64_t h, std::uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15;
    return h ^ h >> 32;
  }
  static std::uint64_t
  hash(std::string_view name, std::span<reference::value const> all, std::uint64_t h = 7) {
    for (char const c : name) h = mixed(h, static_cast<unsigned char>(c));
    for (auto const& v : all) h = hash({}, v.rows, mixed(mixed(h, v.bits), v.rows.size()));
    return h;
  }
  static datum invented(ir::type t, std::uint64_t h) {
    switch (t.element) {
    case ir::scalar::boolean:
      return h % 2 == 0;
    case ir::scalar::i64:
      return static_cast<i64>(h % 5);
    case ir::scalar::f32:
      return static_cast<float>(h % 64) / 8 - 4;
    default:
      return static_cast<double>(h % 64) / 8 - 4;
    }
  }
  void add(hosts& all, std::string const& name, effect does) {
    all.add(name, [this, name, does](std::span<datum const> given, std::span<ir::type const> types) {
      std::vector<reference::value> values;
      for (datum const& d : given) values.push_back(reference_data::value_of(d));
      std::uint64_t h = hash(name, values);
      if (does == effect::reads_context) h = mixed(h, log.size());
      if (does == effect::accumulates) total += h;
      if (does == effect::ordered) log.push_back(name + " " + std::to_string(h));
      if ((does == effect::may_fail || does == effect::ordered) && h % 16 == 0)
        throw host_failed(message("host"));
      std::vector<datum> answer;
      for (ir::type const t : types) answer.push_back(invented(t, h = mixed(h, 1)));
      return answer;
    });
  }
  datum sample(sample_request const& asked) {
    std::string address(asked.address);
    std::vector<reference::value> values;
    for (i64 const i : asked.indices) {
      address += "[" + std::to_string(i) + "]";
      values.push_back(reference::of_number(i));
    }
    for (datum const& d : asked.parameters) values.push_back(reference_data::value_of(d));
    datum const drawn = invented(asked.type, hash(address + std::string(asked.distribution), values));
    samples.push_back(address + " " + std::to_string(drawn.bits()));
    return drawn;
  }
};

using maker = std::function<executable(ir::program const&, hosts const&)>;

maker interpreter(execution_options options) {
  return [options](ir::program const& p, hosts const& h) { return executable(p, h, options); };
}

reference::outcome
outcome_of(ir::program const& p, std::vector<reference::value> const& arguments, maker const& make) {
  reference::outcome seen;
  invented_host host;
  std::vector<datum> given;
  for (auto const& v : arguments) given.push_back(reference_data::datum_of(v));
  try {
    executable const run = make(p, host.functions());
    for (datum const& d : run.run(given)) seen.results.push_back(reference_data::value_of(d));
    std::sort(host.samples.begin(), host.samples.end());
    seen.samples = host.samples;
    seen.total = host.total;
  } catch (index_error const&) {
    seen.failed = failure::index;
  } catch (size_error const&) {
    seen.failed = failure::size;
  } catch (division_by_zero const&) {
    seen.failed = failure::division;
  } catch (assertion_failed const&) {
    seen.failed = failure::assertion;
  } catch (host_failed const&) {
    seen.failed = failure::host;
  }
  seen.log = host.log;
  return seen;
}

void agree(
    std::uint64_t from, std::uint64_t count, random_program::options const& wanted, maker const& make) {
  for (std::uint64_t seed = from; seed < from + count; ++seed) {
    ir::program const p =
        random_program::of_some_mode(random_program::without_signs(random_program::make(seed, wanted)), seed);
    auto const arguments = laws::arguments(seed);
    auto const fails = [&](ir::program const& q) {
      auto const expected = reference::run(q, arguments);
      return expected && !(outcome_of(q, arguments, make) == *expected);
    };
    if (!fails(p)) continue;
    INFO("seed " << seed << "\n" << ir::print(laws::shrunk(p, fails)));
    CHECK(false);
    return;
  }
}

} // namespace

TEST_CASE("random programs have the results of the reference, element by element") {
  agree(1, laws::seeds(300), {}, interpreter({.lanes_from = 1'000'000}));
}

TEST_CASE("random programs have the results of the reference, in lanes") {
  agree(1'000, laws::seeds(300), {}, interpreter({.lanes_from = 1}));
  agree(2'000, laws::seeds(300), {.effects = false, .samples = false}, interpreter({.lanes_from = 1}));
}

TEST_CASE("random programs without errors have the results of the reference, in lanes") {
  agree(
      3'000, laws::seeds(300), {.effects = false, .samples = false, .failing = false},
      interpreter({.lanes_from = 1}));
}

#if OVERDUB_TESTS_JIT
TEST_CASE("random programs have the results of the reference, as machine code") {
  auto const compiled = [](int level) {
    return
        [level](ir::program const& p, hosts const& h) { return jit::compile(p, h, {.optimisation = level}); };
  };
  agree(4'000, laws::seeds(50), {}, compiled(0));
  agree(5'000, laws::seeds(200), {}, compiled(1));
  agree(6'000, laws::seeds(100), {}, compiled(2));
  agree(7'000, laws::seeds(100), {.effects = false, .samples = false}, compiled(2));
}

// Every buffer is released: later calls allocate none.
TEST_CASE("machine code of random programs releases its memory") {
  for (std::uint64_t seed = 1; seed < laws::seeds(150); ++seed) {
    ir::program const p =
        random_program::make(seed, {.effects = false, .function_values = true, .samples = false});
    auto const arguments = laws::arguments(seed);
    if (!reference::run(p, arguments)) continue;
    std::vector<datum> given;
    for (auto const& v : arguments) given.push_back(reference_data::datum_of(v));
    auto inst = jit::compile(p, {}, {.optimisation = 1}).instance();
    std::vector<std::size_t> bytes;
    for (int i = 0; i < 4; ++i) {
      try {
        inst.run(given);
      } catch (error const&) {
      }
      bytes.push_back(inst.array_bytes());
    }
    INFO("seed " << seed);
    CHECK(bytes[3] == bytes[1]);
  }
}
#endif
