// The check is sound: no value is out of its bounds, no error or NaN occurs without a finding, no branch that is reported as
// unreachable runs; and certain findings do occur. The programs are random, with inputs that are known exactly, by their
// ranges, or not at all. OVERDUB_PROGRAMS=1000000 runs more.
#include "catch.hpp"
#include "pass/laws.hpp"

#include <overdub/check.hpp>
#include <overdub/implementation/check/reporter.hpp>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace overdub::ir;
namespace checking = overdub::checking;
using overdub::finding;
using overdub::finding_kind;
using reference::value;

double real(value const& v) {
  return v.element == scalar::f32 ? static_cast<double>(reference::number<float>(v))
                                  : reference::number<double>(v);
}
bool is_floating(value const& v) {
  return v.rank == 0 && (v.element == scalar::f32 || v.element == scalar::f64);
}
bool is_nan(value const& v) { return is_floating(v) && std::isnan(real(v)); }
bool is_finite(value const& v) { return !is_floating(v) || std::isfinite(real(v)); }

// Whether an abstract value contains a value.
bool is_among(value const& v, checking::abstract const& a, std::size_t axis = 0) {
  if (v.rank > 0) {
    if (!a.lengths[axis].has(static_cast<std::int64_t>(v.rows.size()))) return false;
    for (value const& row : v.rows)
      if (!is_among(row, a, axis + 1)) return false;
    return true;
  }
  switch (v.element) {
  case scalar::f32:
  case scalar::f64:
    return a.element.real.contains(real(v));
  case scalar::i64:
    return a.element.whole.has(reference::integer(v));
  case scalar::boolean:
    return v.bits != 0 ? a.element.boolean.may_be_true : a.element.boolean.may_be_false;
  default:
    return true;
  }
}

std::string text_of(value const& v) {
  if (v.rank > 0) {
    std::string text = "[";
    for (value const& row : v.rows) text += text_of(row) + " ";
    return text + "]";
  }
  return is_floating(v) ? std::to_string(real(v)) : std::to_string(reference::integer(v));
}

class witness : public reference::observer {
public:
  witness(program const& p, checking::analysis const& found, std::vector<finding> const& findings)
      : p_(p), found_(found) {
    for (finding const& x : findings) kinds_.insert({x.function, x.node, x.kind});
  }
  std::string fault;
  std::vector<std::pair<function_id, node_id>> open; // operations that have begun; the innermost is the last
  std::map<std::pair<function_id, node_id>, int> ended, nans, infinities;

  bool is_found(function_id f, node_id n, finding_kind kind) const { return kinds_.contains({f, n, kind}); }

  void entered(function const& f, region_id r, std::span<value const> arguments) override {
    function_id const id = id_of(f);
    if (!found_.is_reached(id, r))
      return complain("a region runs that is reported as unreachable", id, f[r].parent);
    for (std::uint32_t i = 0; i < arguments.size(); ++i)
      if (!f.type_of(f.argument(r, i)).is_accumulator)
        compare(f, f.argument(r, i), arguments[i], f[r].parent);
  }
  void begun(function const& f, node_id n, std::span<value const>) override {
    open.emplace_back(id_of(f), n);
    if (!found_.is_reached(id_of(f), n))
      complain("an operation runs that is reported as unreachable", id_of(f), n);
  }
  void done(function const& f, node_id n, std::span<value const> operands, std::span<value const> results)
      override {
    open.pop_back();
    function_id const id = id_of(f);
    ++ended[{id, n}];
    for (std::uint32_t i = 0; i < results.size(); ++i) compare(f, f.result(n, i), results[i], n);
    op const code = f[n].code;
    if (!is_elementwise(code) || code == op::select || !is_floating(results[0])) return;
    bool nan_before = false, all_finite = true;
    for (value const& v : operands) {
      nan_before = nan_before || is_nan(v);
      all_finite = all_finite && is_finite(v);
    }
    if (is_nan(results[0]) && !nan_before) {
      ++nans[{id, n}];
      if (!is_found(id, n, finding_kind::not_a_number)) complain("NaN occurs without a finding", id, n);
    }
    if (std::isinf(real(results[0])) && all_finite && is_pole(code, operands)) {
      ++infinities[{id, n}];
      if (!is_found(id, n, finding_kind::infinite)) complain("an infinity occurs without a finding", id, n);
    }
  }

private:
  function_id id_of(function const& f) const {
    return function_id{static_cast<std::uint32_t>(&f - p_.functions.data())};
  }
  static bool is_pole(op code, std::span<value const> x) {
    switch (code) {
    case op::log:
    case op::log2:
    case op::log10:
    case op::log1p:
    case op::atanh:
    case op::logb:
      return true;
    case op::div:
    case op::strong_div:
      return real(x[1]) == 0;
    case op::pow:
      return real(x[0]) == 0;
    case op::tgamma:
    case op::lgamma:
      return real(x[0]) <= 0;
    default:
      return false;
    }
  }
  void compare(function const& f, value_id v, value const& x, node_id n) {
    if (x.calls || x.element == scalar::function) return;
    auto const& seen = found_.seen(id_of(f), v);
    if (!seen) return complain("a value is out of its bounds", id_of(f), n);
    if (!is_among(x, *seen))
      complain(
          "the value " + text_of(x) + " is not " + checking::text_of(*seen) +
              (seen->lengths.empty() ? "" : ", of length " + checking::text_of(seen->lengths[0])),
          id_of(f), n);
  }
  void complain(std::string const& what, function_id f, node_id n) {
    if (!fault.empty()) return;
    fault = what + ", at " +
            (n == nothing ? "the beginning"
                          : std::string(name_of(p_[f][n].code)) + " " + std::to_string(index_of(n)));
    fault += " of @" + std::string(p_.name_of(f));
  }

  program const& p_;
  checking::analysis const& found_;
  std::set<std::tuple<function_id, node_id, finding_kind>> kinds_;
};

finding_kind kind_of(reference::failure f) {
  switch (f) {
  case reference::failure::index:
    return finding_kind::index;
  case reference::failure::size:
    return finding_kind::wrong_size;
  case reference::failure::division:
    return finding_kind::division_by_zero;
  default:
    return finding_kind::assertion;
  }
}

// The exact abstract value of one argument.
checking::abstract exactly(value const& v) {
  if (v.rank == 0) return checking::literal_of({v.element, 0, false, 0}, v.bits);
  checking::abstract a = exactly(v.rows[0]);
  for (value const& row : v.rows) a = join(a, exactly(row));
  a.type = a.type.array_of();
  a.lengths.insert(a.lengths.begin(), checking::integers::only(static_cast<std::int64_t>(v.rows.size())));
  return a;
}
// Three precisions of the arguments of random programs.
std::vector<overdub::bounds> inputs(std::vector<value> const& arguments, std::uint64_t way) {
  if (way % 3 == 0) return {};
  std::vector<overdub::bounds> all;
  if (way % 3 == 1) {
    for (value const& v : arguments) all.push_back({exactly(v)});
    return all;
  }
  using overdub::between;
  using overdub::each;
  return {
      between(0, 2),
      between(-4.0, 4.0),
      overdub::anything<bool>(),
      each(between(-4.0, 4.0), 3, 3),
      each(between(-1, 3), 1),
      each(each(between(-4.0, 4.0), 3, 3), 3, 3),
      between(1.5f, 1.5f)};
}

std::string fault_of(program const& p, std::uint64_t seed) {
  auto const arguments = laws::arguments(seed);
  checking::reporter reporter(p, inputs(arguments, seed), seed % 7 == 0 ? 200 : 100'000);
  auto const report = reporter.report();
  witness w(p, reporter.found(), report.findings);
  auto const result = reference::run(p, arguments, 10'000, &w);
  if (!w.fault.empty()) return w.fault;
  if (!result) return {}; // it runs too long
  using reference::failure;
  if (result->failed != failure::none && result->failed != failure::host) {
    auto const [f, n] = w.open.back();
    if (!w.is_found(f, n, kind_of(result->failed)))
      return "an error occurs without a finding, at operation " + std::to_string(index_of(n)) + " of @" +
             std::string(p.name_of(f));
  }
  for (finding const& x : report.findings) {
    auto const at = std::pair(x.function, x.node);
    bool const throws = x.kind != finding_kind::not_a_number && x.kind != finding_kind::infinite;
    if (x.kind >= finding_kind::unreachable) continue;
    int const happened = x.kind == finding_kind::not_a_number ? w.nans[at]
                         : x.kind == finding_kind::infinite   ? w.infinities[at]
                                                              : 0;
    if (x.how == overdub::severity::certain && result->failed == failure::none && happened == 0)
      return "a certain failure does not occur: " + text_of(x);
    // In the entry, all executions of an operation have the same path.
    if (x.each_time && x.function == p.entry && x.path.empty() && w.ended[at] != (throws ? 0 : happened))
      return "a failure does not occur each time: " + text_of(x);
  }
  return {};
}

std::uint64_t number_in(char const* variable, std::uint64_t otherwise) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

} // namespace

TEST_CASE("in random programs, no excluded failure occurs, and certain failures do") {
  std::uint64_t const count = number_in("OVERDUB_PROGRAMS", laws::seeds(10'000));
  std::size_t found = 0, certain = 0;
  for (std::uint64_t seed = number_in("OVERDUB_FIRST_PROGRAM", 1), last = seed + count; seed < last; ++seed) {
    program const p =
        random_program::of_some_mode(random_program::make(seed, random_program::any_options(seed)), seed);
    std::string const fault = fault_of(p, seed);
    if (!fault.empty()) {
      auto const kind = fault.substr(0, 18);
      program const small =
          laws::shrunk(p, [&](program const& q) { return fault_of(q, seed).starts_with(kind); });
      FAIL("random program " << seed << ": " << fault_of(small, seed) << "\n" << print(small));
    }
    auto const report = overdub::check(p, inputs(laws::arguments(seed), seed));
    found += report.findings.size();
    certain += report.count(overdub::severity::certain);
  }
  bool const are_few = count < 100;
  CHECK((are_few || found > count)); // the programs are not trivial
  CHECK((are_few || certain > count / 10));
}
