// Random programs: forward and reverse mode agree on the product of cotangents and tangents, before and after the pipeline.
// OVERDUB_PROGRAMS=1000000 runs more.
#include "catch.hpp"
#include "pass/laws.hpp"

#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace overdub;

// Arguments, tangents and cotangents.
class numbers {
public:
  explicit numbers(std::uint64_t seed) : random_(seed) {}

  std::vector<datum> arguments() {
    auto const integer = [&] { return static_cast<i64>(random_.below(5)) - 1; };
    std::vector<datum> all;
    all.emplace_back(static_cast<i64>(random_.below(3)));
    all.emplace_back(next());
    all.emplace_back(random_.chance(50));
    all.emplace_back(row());
    all.emplace_back(array<i64>{integer(), integer(), integer()});
    all.emplace_back(matrix());
    all.emplace_back(1.5f);
    return all;
  }
  // A value of the type and shape of a datum; nothing for shapes that are not supported.
  std::optional<datum> like(datum const& d) {
    ir::type const t = d.type();
    if (t == ir::f64) return datum(next());
    if (t == ir::f32) return datum(static_cast<float>(next()));
    if (t == ir::f64.array_of()) return datum(array_like<double>(d));
    if (t == ir::f32.array_of()) return datum(array_like<float>(d));
    if (t == ir::f64.array_of().array_of() && d.shape()[0] == 3 && d.shape()[1] == 3) return datum(matrix());
    return {};
  }

private:
  double next() { return static_cast<double>(random_.below(64)) / 8 - 4 + random_.below(100) / 300.0; }
  array<double> row() { return {next(), next(), next()}; }
  array<array<double>> matrix() { return {row(), row(), row()}; }
  template <class T>
  array<T> array_like(datum const& d) {
    std::vector<T> all(static_cast<std::size_t>(d.shape()[0]));
    for (T& x : all) x = static_cast<T>(next());
    return array<T>::copy_of(all);
  }
  random_program::random_numbers random_;
};

struct product {
  double sum = 0, scale = 0;

  void add(datum const& a, datum const& b) {
    ir::type const t = a.type();
    if (t == ir::f64) return add(a.as<double>(), b.as<double>());
    if (t == ir::f32) return add(double{a.as<float>()}, double{b.as<float>()});
    REQUIRE(a.shape() == b.shape());
    if (t.element == ir::scalar::f64) return add_all<double>(a, b);
    add_all<float>(a, b);
  }

private:
  void add(double x, double y) {
    sum += x * y;
    scale += std::abs(x * y);
  }
  template <class T>
  void add_all(datum const& a, datum const& b) {
    auto const x = a.elements<T>(), y = b.elements<T>();
    for (i64 i = 0; i < x.size(); ++i) add(double{x[i]}, double{y[i]});
  }
};

bool is_real(ir::type t) { return t.element == ir::scalar::f32 || t.element == ir::scalar::f64; }

enum class verdict { agrees, not_asked, refused, differs };

// The failure; empty if there is none.
verdict judge(ir::program const& p, std::uint64_t seed, std::string& why) {
  numbers random(seed);
  std::vector<datum> const arguments = random.arguments();
  std::vector<datum> values;
  try {
    values = executable(p).run(arguments);
  } catch (error const&) {
    return verdict::not_asked;
  }
  gradient_request wanted;
  std::vector<datum> forwards, backwards = arguments, tangents, cotangents;
  for (datum const& d : arguments) {
    wanted.inputs.push_back(is_real(d.type()));
    forwards.push_back(d);
    if (!wanted.inputs.back()) continue;
    tangents.push_back(*random.like(d));
    forwards.push_back(tangents.back());
  }
  for (datum const& d : values) {
    auto const cotangent = random.like(d);
    wanted.results.push_back(cotangent.has_value());
    if (cotangent) cotangents.push_back(*cotangent);
  }
  backwards.insert(backwards.end(), cotangents.begin(), cotangents.end());
  if (cotangents.empty()) return verdict::not_asked;

  ir::program reversed = p;
  try {
    reversed.entry = add_gradient(reversed, p.entry, wanted);
  } catch (differentiation_error const&) {
    return verdict::refused;
  }
  if (auto const faults = ir::faults_of(reversed); !faults.empty()) {
    why = "the gradient is not valid: " + faults[0].text;
    return verdict::differs;
  }
  if (seed % 2 == 0) pass::default_pipeline(reversed);

  std::vector<datum> along, back;
  try {
    along = executable(forward_of(p)).run(forwards);
    back = executable(reversed).run(backwards);
  } catch (size_error const&) {
    return verdict::refused; // residuals of iterations differ in shape
  } catch (error const& e) {
    why = e.what();
    return verdict::differs;
  }
  product forward, backward;
  std::size_t next = 0, given = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(text_of(back[i]) == text_of(values[i]))) {
      why = "the value is another one";
      return verdict::differs;
    }
    ++next;
    if (!is_real(values[i].type())) continue;
    if (wanted.results[i]) forward.add(cotangents[given++], along[next]);
    ++next;
  }
  for (std::size_t i = 0; i < tangents.size(); ++i) backward.add(tangents[i], back[values.size() + i]);
  // With huge numbers, one of the modes may overflow.
  if (!std::isfinite(forward.sum) || !std::isfinite(backward.sum)) return verdict::not_asked;
  double const scale = std::max({forward.scale, backward.scale, 1e-12});
  if (std::abs(forward.sum - backward.sum) <= 1e-4 * scale) return verdict::agrees;
  why = std::to_string(forward.sum) + " forwards, and " + std::to_string(backward.sum) + " backwards";
  return verdict::differs;
}

// Excludes numbers that dwarf all others.
ir::program without_huge_numbers(ir::program p) {
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    for (ir::cursor c(p, ir::function_id{i}); c.next();)
      for (std::uint32_t k = 0; k < (*c)[c.node()].operand_count; ++k) {
        ir::value_id const v = c.operand(k);
        if (c->is_literal(v) && c->type_of(v) == ir::f64 &&
            std::abs(std::bit_cast<double>(c->bits_of(v))) > 1e100)
          c.set_operand(c.node(), k, c.literal(7.0));
      }
  return p;
}

// Without effects and errors.
ir::program program_of(std::uint64_t seed) {
  random_program::options o = random_program::any_options(seed);
  o.effects = o.samples = o.function_values = o.carried_functions = o.failing = false;
  return without_huge_numbers(random_program::make(seed, o));
}
// The same with function values, defunctionalised; nothing if there are none.
std::optional<ir::program> program_of_functions(std::uint64_t seed) {
  random_program::options o = random_program::any_options(seed);
  o.effects = o.samples = o.failing = false;
  o.function_values = o.functions_in_data = true;
  o.functions = 2;
  ir::program p = without_huge_numbers(random_program::make(seed, o));
  if (pass::defunctionalise(p) == 0) return {};
  return p;
}

void judge_or_fail(ir::program const& p, std::uint64_t seed, std::uint64_t& agreed, std::uint64_t& refused) {
  std::string why;
  verdict const v = judge(p, seed, why);
  agreed += v == verdict::agrees;
  refused += v == verdict::refused;
  if (v != verdict::differs) return;
  ir::program const small = laws::shrunk(p, [&](ir::program const& q) {
    std::string other;
    return judge(q, seed, other) == verdict::differs;
  });
  FAIL("random program " << seed << ": " << why << "\n" << ir::print(small));
}
std::uint64_t programs(std::uint64_t otherwise) {
  char const* const asked = std::getenv("OVERDUB_PROGRAMS");
  return asked == nullptr ? laws::seeds(otherwise) : std::strtoull(asked, nullptr, 10);
}

} // namespace

TEST_CASE("random programs have the same derivative in forward and reverse mode") {
  std::uint64_t const count = programs(5'000);
  std::uint64_t agreed = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) judge_or_fail(program_of(seed), seed, agreed, refused);
  CHECK(agreed > count / 2);
  CHECK(laws::is_rare(refused, count, 50));
}

TEST_CASE("random programs of defunctionalised function values have the same derivative in both modes") {
  std::uint64_t const count = programs(5'000);
  std::uint64_t agreed = 0, refused = 0, asked = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed)
    if (auto const p = program_of_functions(seed)) {
      ++asked;
      judge_or_fail(*p, seed, agreed, refused);
    }
  CHECK(asked > count / 20);
  CHECK(agreed > asked / 2);
  CHECK(laws::is_rare(refused, asked, 20));
}
