// Random programs: after updates, commits and rollbacks the value is that of a new run. OVERDUB_PROGRAMS=1000000 runs more.
#include "catch.hpp"
#include "incremental/updates.hpp"
#include "pass/laws.hpp"

#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace incremental_updates;

inputs const& of_random_programs() {
  static inputs const all{
      {ir::scalar::i64, {}, 0, 2}, {ir::scalar::f64},         {ir::scalar::boolean}, {ir::scalar::f64, {3}},
      {ir::scalar::i64, {3}},      {ir::scalar::f64, {3, 3}}, {ir::scalar::f32}};
  return all;
}

ir::program program_of(std::uint64_t seed) {
  random_program::options o = random_program::any_options(seed);
  o.effects = o.samples = o.function_values = o.carried_functions = false;
  return random_program::make(seed, o);
}

// Programs of plates: maps over arrays of one length, which read elements at their own index, at the next one, and at indices that they
// read; nested maps over rows; sums and other reductions; numbers that may be unchanged when their operands change.
inputs const& of_plates() {
  static inputs const all{
      {ir::scalar::i64, {6}, 0, 3, true},
      {ir::scalar::i64, {6}, 0, 5, true},
      {ir::scalar::f64, {6}, 0, 0, true},
      {ir::scalar::f64, {6}, 0, 0, true},
      {ir::scalar::f64, {4}},
      {ir::scalar::f64, {6, 3}, 0, 0, true},
      {ir::scalar::f64},
      {ir::scalar::i64, {}, 0, 5}};
  return all;
}

// The same with enough elements for lists of changes.
inputs const& of_long_plates() {
  static inputs const all{
      {ir::scalar::i64, {80}, 0, 79, true},
      {ir::scalar::i64, {80}, 0, 79, true},
      {ir::scalar::f64, {80}, 0, 0, true},
      {ir::scalar::f64, {80}, 0, 0, true},
      {ir::scalar::f64, {80}},
      {ir::scalar::f64, {80, 3}, 0, 0, true},
      {ir::scalar::f64},
      {ir::scalar::i64, {}, 0, 79}};
  return all;
}

class plates {
public:
  explicit plates(std::uint64_t seed) : random_(seed), arrays_{"%x"} {}

  std::string text() {
    line("entry @main\nfunc @main(%z: i64[], %w: i64[], %x: f64[], %y: f64[], %m: f64[], %r: f64[][], %s: "
         "f64, %k: i64) "
         "-> (f64, f64) {");
    line("%n = length %z, %w, %x, %y, %r : i64");
    line("%n1 = sub %n, 1 : i64");
    std::string const total = parts("%s", 2);
    std::string const at_k = name();
    line(at_k + " = at " + arrays_[random_.below(arrays_.size())] + ", %k : f64");
    line("return " + total + ", " + at_k);
    line("}");
    return text_;
  }

private:
  // Sums of maps and loops, some of them in branches of this depth.
  std::string parts(std::string total, int depth) {
    std::size_t const count = 1 + random_.below(3);
    for (std::size_t k = 0; k < count; ++k) {
      if (random_.chance(40)) number();
      if (depth > 0 && random_.chance(20)) {
        total = branch(total, depth);
        continue;
      }
      if (random_.chance(12)) {
        total = add(total, loop_of_arrays());
        continue;
      }
      if (random_.chance(35)) {
        auto const [last, states] = loop();
        total = add(total, last);
        if (random_.chance(50)) total = add(total, sum(states));
        continue;
      }
      total = add(total, sum(map()));
    }
    return total;
  }
  // The condition depends on inputs that change. The branch returns a sum and an array.
  std::string branch(std::string const& total, int depth) {
    std::string const made = name(), array = name(), condition = name(), element = name();
    std::string const& s = numbers_[random_.below(numbers_.size())];
    line(element + " = at " + arrays_[random_.below(arrays_.size())] + ", %k : f64");
    line(
        condition + (random_.chance(50)   ? " = lt " + s + ", 0.0 : bool"
                     : random_.chance(50) ? " = gt %k, 2 : bool"
                                          : " = lt " + element + ", 0.25 : bool"));
    line(made + ", " + array + " = if " + condition + " -> (f64, f64[]) {");
    for (int side = 0; side < 2; ++side) {
      std::size_t const outside = arrays_.size(), numbers_outside = numbers_.size();
      std::string const inner = random_.chance(80) ? parts(total, depth - 1) : total;
      line("yield " + inner + ", " + arrays_[random_.below(arrays_.size())]);
      arrays_.resize(outside);
      numbers_.resize(numbers_outside);
      line(side == 0 ? "} else {" : "}");
    }
    arrays_.push_back(array);
    return made;
  }

  // A number that depends on inputs alone, and is exact.
  void number() {
    std::string const v = name(), a = numbers_[random_.below(numbers_.size())],
                      b = numbers_[random_.below(numbers_.size())];
    switch (random_.below(5)) {
    case 0:
      line(v + " = floor " + a + " : f64");
      break;
    case 1:
      line(v + " = max " + a + ", " + b + " : f64");
      break;
    case 2: {
      std::string const c = name();
      line(c + " = lt " + a + ", 1.0 : bool");
      line(v + " = select " + c + ", 0.5, " + b + " : f64");
      break;
    }
    default:
      line(
          v + " = at " +
          (random_.chance(40)   ? "%m"
           : random_.chance(50) ? "%x"
                                : "%y") +
          ", " + std::to_string(random_.below(4)) + " : f64");
    }
    numbers_.push_back(v);
  }

  void line(std::string const& l) { text_ += l + "\n"; }
  std::string name() { return "%v" + std::to_string(next_++); }
  std::string add(std::string const& a, std::string const& b) {
    std::string const v = name();
    line(v + " = add " + a + ", " + b + " : f64");
    return v;
  }
  std::string sum(std::string const& array) {
    std::string const v = name();
    if (random_.chance(75)) {
      line(v + " = reduce add " + array + " from 0.0 : f64");
    } else if (random_.chance(50)) {
      line(v + (random_.chance(50) ? " = reduce max " : " = reduce sub ") + array + " from -9.0 : f64");
    } else { // of two arrays, by a function that is not associative
      std::string const other = name(), a = name(), b = name(), c = name(), d = name(), x = name(),
                        y = name();
      line(
          v + ", " + other + " = reduce " + array + ", " + array + " from %s, 0.5 (" + a + ": f64, " + b +
          ": f64, " + c + ": f64, " + d + ": f64) -> (f64, f64) {");
      line(x + " = sub " + a + ", " + d + " : f64");
      line(y + " = max " + b + ", " + c + " : f64");
      line("yield " + x + ", " + y + "\n}");
      return add(v, other);
    }
    return v;
  }
  // An array with as many elements as iterations. It is added to `arrays_`, which later maps read.
  std::string map() {
    bool const is_short = random_.chance(30);
    std::string const made = name(), iteration = name();
    line(made + " = map " + (is_short ? "%n1" : "%n") + " (" + iteration + ": i64) -> f64 {");
    std::vector<std::string> values{numbers_[random_.below(numbers_.size())]};
    auto const read = [&](std::string const& array, std::string const& index) {
      std::string const v = name();
      line(v + " = at " + array + ", " + index + " : f64");
      values.push_back(v);
    };
    auto const index = [&](char const* array) {
      std::string const v = name();
      line(v + " = at " + array + ", " + iteration + " : i64");
      return v;
    };
    std::size_t const reads = 1 + random_.below(3);
    for (std::size_t k = 0; k < reads; ++k) switch (random_.below(7)) {
      case 6:
        values.push_back(neighbour(arrays_[random_.below(arrays_.size())], iteration));
        break;
      case 0:
        read("%m", index("%z"));
        break;
      case 1:
        read("%y", index("%w"));
        break;
      case 2:
        if (is_short) {
          std::string const after = name();
          line(after + " = add " + iteration + ", 1 : i64");
          read(random_.chance(50) ? "%x" : arrays_[random_.below(arrays_.size())], after);
        } else {
          read("%x", iteration);
        }
        break;
      case 3:
        if (!is_short || random_.chance(50)) {
          read(arrays_[random_.below(arrays_.size())], random_.chance(50) ? iteration : index("%z"));
          break;
        }
        [[fallthrough]];
      case 4:
        read(random_.chance(50) ? "%x" : "%y", iteration);
        break;
      default:
        values.push_back(random_.chance(50) ? sum_of_row(iteration, values) : loop_of_row(iteration, values));
      }
    std::size_t const operations = 1 + random_.below(4);
    for (std::size_t k = 0; k < operations; ++k) operation(values);
    line("yield " + values.back());
    line("}");
    if (!is_short) arrays_.push_back(made);
    return made;
  }
  // The next or previous element, if it exists.
  std::string neighbour(std::string const& array, std::string const& iteration) {
    bool const is_before = random_.chance(50);
    std::string const there = name(), made = name(), index = name(), element = name();
    line(there + (is_before ? " = gt " + iteration + ", 0" : " = lt " + iteration + ", %n1") + " : bool");
    line(made + " = if " + there + " -> f64 {");
    line(index + (is_before ? " = sub " : " = add ") + iteration + ", 1 : i64");
    line(element + " = at " + array + ", " + index + " : f64");
    line("yield " + element + "\n} else {\nyield 0.25\n}");
    return made;
  }
  // The final loop-carried value, and the stacked results.
  std::pair<std::string, std::string> loop() {
    std::string const last = name(), all = name(), iteration = name(), state = name();
    bool const gives = random_.chance(60);
    std::string const start = random_.chance(50) ? numbers_[random_.below(numbers_.size())] : "0.25";
    line(
        last + (gives ? ", " + all : "") + " = loop %n (" + iteration + ": i64, " + state +
        ": f64 = " + start + ") -> f64 " + (gives ? "stack f64 {" : "{"));
    std::vector<std::string> values{state};
    std::string const e = name();
    line(e + " = at " + arrays_[random_.below(arrays_.size())] + ", " + iteration + " : f64");
    values.push_back(e);
    if (random_.chance(40)) { // it may return to its old value
      std::string const damped = name(), halved = name();
      line(damped + " = floor " + state + " : f64");
      line(halved + " = mul " + damped + ", 0.5 : f64");
      values.push_back(halved);
    }
    operation(values);
    operation(values);
    std::string const bounded = name();
    line(bounded + " = sin " + values.back() + " : f64");
    line("yield " + bounded + (gives ? ", " + values[random_.below(values.size())] : ""));
    line("}");
    if (gives) arrays_.push_back(all);
    return {last, gives ? all : "%x"};
  }
  // A sum over the final loop-carried array, or over stacked results: a number, or such an array.
  std::string loop_of_arrays() {
    bool const of_rows = random_.chance(50), gives = random_.chance(50), gives_arrays = random_.chance(50);
    bool const carries_number = random_.chance(40);
    std::string const iteration = name(), state = name(), last = name(), all = name();
    std::string const number = carries_number ? name() : "", end = carries_number ? name() : "";
    std::string first = "%m";
    if (of_rows) {
      first = name();
      line(first + " = at %r, " + (random_.chance(50) ? "0" : "%k") + " : f64[]");
    }
    line(
        last + (carries_number ? ", " + end : "") + (gives ? ", " + all : "") + " = loop %n (" + iteration +
        ": i64, " + state + ": f64[] = " + first + (carries_number ? ", " + number + ": f64 = 0.25" : "") +
        ") -> " + (carries_number ? "(f64[], f64)" : "f64[]") +
        (gives ? (gives_arrays ? " stack f64[] {" : " stack f64 {") : " {"));
    std::vector<std::string> outer;
    if (carries_number) outer.push_back(number);
    std::string const e = name();
    line(e + " = at " + arrays_[random_.below(arrays_.size())] + ", " + iteration + " : f64");
    outer.push_back(e);
    std::string row;
    if (of_rows) {
      row = name();
      line(row + " = at %r, " + iteration + " : f64[]");
    }
    std::string const next = next_array(state, iteration, row, outer);
    std::string const total = name();
    line(total + (random_.chance(50) ? " = reduce add " : " = reduce max ") + next + " from 0.0 : f64");
    std::string const bounded = name();
    line(bounded + " = sin " + total + " : f64");
    line(
        "yield " + next + (carries_number ? ", " + bounded : "") +
        (gives ? ", " + (gives_arrays ? next : bounded) : "") + "\n}");
    if (gives && gives_arrays) {
      std::string const made = name(), t = name(), of_turn = name(), x = name();
      line(made + " = map %n (" + t + ": i64) -> f64 {");
      line(of_turn + " = at " + all + ", " + t + " : f64[]");
      line(x + " = at " + of_turn + ", 1 : f64\nyield " + x + "\n}");
      arrays_.push_back(made);
    } else if (gives) {
      arrays_.push_back(all);
    }
    std::string const sum_of_last = sum(last);
    return carries_number ? add(sum_of_last, end) : sum_of_last;
  }
  // The next loop-carried array: from its own elements, those of a row, if there is one, and those of other arrays at the index.
  std::string next_array(
      std::string const& state, std::string const& iteration, std::string const& row,
      std::vector<std::string> const& outer) {
    std::string const n = name(), next = name(), j = name(), before = name();
    line(n + " = length " + state + " : i64");
    line(next + " = map " + n + " (" + j + ": i64) -> f64 {");
    line(before + " = at " + state + ", " + j + " : f64");
    std::vector<std::string> values{outer};
    if (random_.chance(50)) {
      std::string const x = name();
      line(x + " = at " + arrays_[random_.below(arrays_.size())] + ", " + iteration + " : f64");
      values.push_back(x);
    }
    if (!row.empty()) {
      std::string const x = name(), own = name();
      if (random_.chance(50))
        line(own + " = at %r, " + iteration + " : f64[]");
      else
        line(own + " = copy " + row + " : f64[]");
      line(x + " = at " + own + ", " + j + " : f64");
      values.push_back(x);
    }
    values.push_back(before);
    if (random_.chance(50)) { // it may return to its old value
      std::string const whole = name(), half = name();
      line(whole + " = floor " + before + " : f64");
      line(half + " = mul " + whole + ", 0.5 : f64");
      values.push_back(half);
    }
    operation(values);
    operation(values);
    std::string const bounded = name();
    line(bounded + " = sin " + values.back() + " : f64\nyield " + bounded + "\n}");
    return next;
  }
  std::string sum_of_row(std::string const& iteration, std::vector<std::string> const& outer) {
    std::string const row = name(), n = name(), products = name(), i = name(), e = name(), p = name(),
                      s = name();
    line(row + " = at %r, " + iteration + " : f64[]");
    line(n + " = length " + row + " : i64");
    line(products + " = map " + n + " (" + i + ": i64) -> f64 {");
    line(e + " = at " + row + ", " + i + " : f64");
    line(p + " = mul " + e + ", " + outer[random_.below(outer.size())] + " : f64");
    line("yield " + p + "\n}");
    line(s + " = reduce add " + products + " from 0.0 : f64");
    return s;
  }
  // The final loop-carried value of a loop over a row, or the sum of its stacked results.
  std::string loop_of_row(std::string const& iteration, std::vector<std::string> const& outer) {
    std::string const row = name(), n = name(), last = name(), all = name(), i = name(), state = name();
    bool const gives = random_.chance(60);
    line(row + " = at %r, " + iteration + " : f64[]");
    line(n + " = length " + row + " : i64");
    if (random_.chance(30)) { // with a loop-carried array
      line(
          last + " = loop " + n + " (" + i + ": i64, " + state +
          ": f64[] = " + (random_.chance(50) ? row : "%m") + ") -> f64[] {");
      std::string const e = name();
      line(e + " = at " + row + ", " + i + " : f64");
      std::string const next = next_array(state, iteration, "", {outer[random_.below(outer.size())], e});
      line("yield " + next + "\n}");
      std::string const made = name();
      line(
          made +
          (random_.chance(50) ? " = reduce add " + last + " from 0.0 : f64" : " = at " + last + ", 1 : f64"));
      return made;
    }
    line(
        last + (gives ? ", " + all : "") + " = loop " + n + " (" + i + ": i64, " + state +
        ": f64 = " + outer[random_.below(outer.size())] + ") -> f64 " + (gives ? "stack f64 {" : "{"));
    std::string const e = name();
    line(e + " = at " + row + ", " + i + " : f64");
    std::vector<std::string> values{outer[random_.below(outer.size())], state, e};
    if (random_.chance(40)) {
      std::string const damped = name();
      line(damped + " = floor " + state + " : f64");
      values.push_back(damped);
    }
    operation(values);
    operation(values);
    line("yield " + values.back() + (gives ? ", " + values[random_.below(values.size())] : "") + "\n}");
    if (!gives || random_.chance(40)) return last;
    std::string const total = name();
    line(total + " = reduce add " + all + " from 0.0 : f64");
    return total;
  }
  void operation(std::vector<std::string>& values) {
    std::string const v = name(), a = values[random_.below(values.size())], b = values.back();
    switch (random_.below(5)) {
    case 0:
      line(v + " = sin " + b + " : f64");
      break;
    case 1:
      line(v + " = max " + a + ", " + b + " : f64");
      break;
    case 2: {
      std::string const c = name();
      line(c + " = lt " + a + ", " + b + " : bool");
      line(v + " = if " + c + " -> f64 { yield " + a + " } else { yield " + b + " }");
      break;
    }
    default:
      line(v + " = add " + a + ", " + b + " : f64");
    }
    values.push_back(v);
  }

  random_program::random_numbers random_;
  std::string text_;
  std::vector<std::string> arrays_, numbers_{"%s"};
  int next_ = 0;
};

verdict judge_or_fail(ir::program const& p, std::uint64_t seed, inputs const& of) {
  verdict const v = judge(p, seed, of);
  if (v.why.empty()) return v;
  ir::program const small =
      laws::shrunk(p, [&](ir::program const& q) { return !judge(q, seed, of).why.empty(); });
  FAIL("random program " << seed << ": " << judge(small, seed, of).why << "\n" << ir::print(small));
  return v;
}

} // namespace

TEST_CASE("updates of random programs have the value of a new run") {
  std::uint64_t const count = programs(2'000);
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed)
    refused += judge_or_fail(program_of(seed), seed, of_random_programs()).was_rejected;
  CHECK(laws::is_rare(refused, count, 10));
}

TEST_CASE("updates of random plates have the value of a new run, and run the affected iterations") {
  std::uint64_t const count = programs(3'000);
  std::uint64_t iterations = 0, differences = 0, loops = 0, nested = 0, appended = 0, appended_lists = 0,
                paths = 0, unchanged = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    ir::program const p = ir::parse(plates(seed).text());
    ir::verify(p);
    verdict const v = judge_or_fail(p, seed, of_plates());
    iterations += v.iterations;
    differences += v.differences;
    loops += v.loops;
    nested += v.nested;
    appended += v.appended;
    appended_lists += v.appended_lists;
    paths += v.paths;
    unchanged += v.unchanged;
  }
  CHECK(2 * iterations > 3 * count);
  CHECK(differences > count);
  CHECK(loops > count / 5);
  CHECK(nested > count / 10);
  CHECK(appended > count / 5);
  CHECK(appended_lists > count / 10);
  CHECK(paths > count / 5);
  CHECK(unchanged > count / 5);
}

TEST_CASE("updates of lists of elements of random plates have the value of a new run") {
  std::uint64_t const count = programs(1'200);
  std::uint64_t lists = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed)
    lists += judge_or_fail(ir::parse(plates(seed).text()), seed, of_long_plates()).lists;
  CHECK(lists > count);
}

TEST_CASE("updates that alternate between plain runs and update programs have the value of a new run") {
  std::uint64_t const first = 21; // the first 20 programs are too small for plain runs
  std::uint64_t const count = programs(400);
  std::uint64_t plain = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    INFO("plates " << seed);
    verdict const v = judge_choices(ir::parse(plates(seed).text()), seed, of_plates());
    CHECK(v.why == "");
    plain += v.plain;
  }
  CHECK(plain > count);
}

#if OVERDUB_TESTS_JIT
TEST_CASE("updates of random plates in machine code have the value of a new run") {
  compile_options compiled, in_between; // compiled when an update program is made, or after its first call
  compiled.executor = in_between.executor = jit::compiled({.optimisation = 1});
  compiled.tiers = tiers::compile_now;
  in_between.hot_calls = 1;
  std::uint64_t const count = programs(60);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    ir::program const p = ir::parse(plates(seed).text());
    INFO("plates " << seed);
    CHECK(judge(p, seed, of_plates(), compiled).why == "");
    CHECK(judge(p, seed, of_plates(), in_between).why == "");
    CHECK(judge(p, seed, of_long_plates(), in_between).why == "");
  }
  wait_for_compilations();
}
#endif
