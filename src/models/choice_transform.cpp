#include <overdub/distributions/support.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/models/choice_transform.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace overdub::models {
namespace {

bool is_continuous(datum const& x) { return x.type().element == ir::scalar::f64; }
std::size_t numbers_in(datum const& x) { return static_cast<std::size_t>(x.size()); }
// The number of free coordinates of a choice. A simplex of n elements has n - 1: its density is that of the first n - 1 elements
// (distributions::simplex), which determine the last one. An array that satisfies the constraints of a simplex counts as one, since the
// elements of any other array sum to 1 with probability 0.
std::size_t free_numbers_in(datum const& x) {
  if (x.type().rank != 1 || !distributions::simplex::contains(x.as<array<double>>())) return numbers_in(x);
  return numbers_in(x) - 1;
}

std::string text_of_address(detail::transform_address const& p) {
  return (p.first == detail::model_side ? "the choice " : "the auxiliary choice ") +
         text_of(p.second).substr(0, 80);
}

// log |det a| of a row-major n by n matrix, by Gaussian elimination with partial pivoting. O(n^3).
double log_abs_determinant(std::vector<double> a, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    if (pivot != k)
      for (std::size_t j = k; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    double const diagonal = a[k * n + k];
    sum += std::log(std::abs(diagonal));
    if (diagonal == 0) return -std::numeric_limits<double>::infinity();
    for (std::size_t i = k + 1; i < n; ++i) {
      double const factor = a[i * n + k] / diagonal;
      if (factor == 0) continue;
      for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return sum;
}

bool is_restored(datum const& x, datum const& y, double tolerance) {
  if (x.type() != y.type() || x.shape() != y.shape()) return false;
  if (!is_continuous(x)) return x == y;
  auto const near = [&](double a, double b) {
    return a == b || std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
  };
  if (x.type().rank == 0) return near(x.as<double>(), y.as<double>());
  return std::ranges::equal(x.elements<double>(), y.elements<double>(), near);
}

} // namespace

no_auxiliary::trace_type no_auxiliary::assess(choice_map const& all) {
  if (!all.empty())
    throw model_error(message(
        "overdub: the transform writes the auxiliary choice %.80s, and its inverse has no auxiliary model",
        text_of(all.begin()->first).c_str()));
  return {};
}

transformed_number transformed_choices::real(address const& at) const {
  return run_->numbers({side_, at}, 0).front();
}
std::vector<transformed_number> transformed_choices::reals(address const& at) const {
  return run_->numbers({side_, at}, 1);
}
i64 transformed_choices::integer(address const& at) const {
  return detail::choice_as<i64>(at, run_->existing({side_, at}));
}
bool transformed_choices::boolean(address const& at) const {
  return detail::choice_as<bool>(at, run_->existing({side_, at}));
}
bool transformed_choices::contains(address const& at) const {
  return static_cast<bool>(run_->find({side_, at}));
}
void transformed_choices::write_value(address at, datum x, std::vector<tangents> rows) const {
  run_->write({side_, std::move(at)}, {.value = std::move(x), .rows = std::move(rows)});
}
void transformed_choices::copy(address to, transformed_choices const& from, address const& at) const {
  detail::transform_address source{from.side_, at};
  datum x = run_->existing(source);
  run_->write({side_, std::move(to)}, {.value = std::move(x), .is_copy = true, .from = std::move(source)});
}

namespace detail {

void transform_pass::run(transform_function const& f) {
  transformed_traces t{transformed_choices(*this, model_side), transformed_choices(*this, auxiliary_side)};
  f(t);
}

datum transform_pass::existing(transform_address const& p) const {
  datum x = find(p);
  if (!x)
    throw model_error(message(
        "overdub: the transform reads %s, which there is not; name one choice, with all its indices",
        text_of_address(p).c_str()));
  return x;
}

std::vector<transformed_number> transform_pass::numbers(transform_address const& p, unsigned rank) {
  datum const x = existing(p);
  if (!is_continuous(x) || x.type().rank != rank)
    throw model_error(message(
        "overdub: the transform reads %s as %s, and it is %s", text_of_address(p).c_str(),
        rank == 0 ? "a number" : "an array of numbers", overdub::detail::text_of(x.type()).c_str()));
  auto const [found, is_new] = inputs_.try_emplace(p);
  if (is_new) {
    found->second = {count_, free_numbers_in(x)};
    count_ += found->second.size;
  }
  input const& read = found->second;
  std::vector<transformed_number> all;
  for (std::size_t k = 0; k < numbers_in(x); ++k) {
    tangents along;
    for (int i = 0; i < directions; ++i) {
      std::size_t const column = first_ + static_cast<std::size_t>(i);
      if (k < read.size)
        along[i] = column == read.first + k;
      else if (column >= read.first && column < read.first + read.size)
        along[i] = -1; // the last element of a simplex is 1 minus the others
    }
    all.emplace_back(
        rank == 0 ? x.as<double>() : x.elements<double>()[static_cast<i64>(k)], along,
        overdub::detail::ref<transform_tangents>());
  }
  return all;
}

void transform_pass::write(transform_address p, output made) {
  auto const text = text_of_address(p);
  if (!outputs_.emplace(std::move(p), std::move(made)).second)
    throw model_error(message("overdub: the transform writes %s twice", text.c_str()));
}

transformed::transformed(
    transform_function const& f, choice_finder const& model, choice_finder const& auxiliary) {
  do {
    auto const width = static_cast<std::size_t>(transform_pass::directions);
    transform_pass pass(model, auxiliary, passes_.size() * width);
    pass.run(f);
    if (!passes_.empty() && pass.numbers_read() != passes_.front().numbers_read())
      throw model_error(message(
          "overdub: the transform reads other choices each time that it is called with the same ones"));
    passes_.push_back(std::move(pass));
  } while (passes_.size() * static_cast<std::size_t>(transform_pass::directions) < now().numbers_read());
  for (auto const& [at, made] : now().outputs()) written_[at.first].set(at.second, made.value);
}

bool transformed::uses(transform_address const& p) const {
  return now().inputs().contains(p) || std::ranges::any_of(now().outputs(), [&](auto const& each) {
           return each.second.is_copy && each.second.from == p;
         });
}

double
transformed::log_determinant(overdub::detail::function_view<bool(address const&)> const& is_lost) const {
  auto const is_unchanged = [&](transform_address const& p) {
    return p.first == model_side && !is_lost(p.second);
  };
  std::map<transform_address, bool> copied; // the choices that were counted as copied
  std::size_t rows = 0, surplus = 0;
  std::vector<std::pair<transform_address, std::size_t>>
      all; // rows: the address and the coordinate that are written
  for (auto const& [at, made] : now().outputs()) {
    if (!is_continuous(made.value)) continue;
    std::size_t const size = free_numbers_in(made.value);
    if (made.is_copy) {
      if (is_unchanged(made.from) || !copied.emplace(made.from, true).second) surplus += size;
      continue;
    }
    for (std::size_t k = 0; k < size; ++k) all.emplace_back(at, k);
    rows += size;
  }
  std::vector<std::size_t> columns;
  for (auto const& [at, read] : now().inputs())
    if (!is_unchanged(at) && !copied.contains(at))
      for (std::size_t k = 0; k < read.size; ++k) columns.push_back(read.first + k);
  if (rows + surplus != columns.size())
    throw model_error(message(
        "overdub: the transform writes %zu continuous numbers, and reads %zu that it does not copy "
        "unchanged: it is no bijection",
        rows + surplus, columns.size()));
  std::vector<double> matrix;
  matrix.reserve(rows * rows);
  auto const width = static_cast<std::size_t>(transform_pass::directions);
  for (auto const& [at, k] : all)
    for (std::size_t const column : columns)
      matrix.push_back(passes_[column / width].outputs().at(at).rows[k][static_cast<int>(column % width)]);
  return log_abs_determinant(std::move(matrix), rows);
}

void transformed::reject_unused(transform_address const& p, datum const& x) const {
  if (is_continuous(x) && !uses(p))
    throw model_error(message(
        "overdub: the transform does not read %s, whose value its inverse needs",
        text_of_address(p).c_str()));
}

void transformed::reject_observed(choice_map const& observed) const {
  for (auto const& [at, x] : model())
    if (observed.contains(at))
      throw model_error(
          message("overdub: the transform writes the choice %.80s, which is observed", text_of(at).c_str()));
}

void check_restored(choice_visitor const& all, choice_finder const& now, int side, double tolerance) {
  all([&](address const& at, datum const& x) {
    datum const y = now(at);
    if (y && is_restored(x, y, tolerance)) return;
    throw model_error(message(
        "overdub: the inverse does not restore %s: it was %s, and is %s", text_of_address({side, at}).c_str(),
        overdub::text_of(x).c_str(), y ? overdub::text_of(y).c_str() : "not there"));
  });
}

} // namespace detail
} // namespace overdub::models
