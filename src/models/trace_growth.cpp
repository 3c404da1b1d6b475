#include <overdub/implementation/execute/array_words.hpp>
#include <overdub/models/trace_growth.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

trace_extension::trace_extension(
    std::shared_ptr<model_core const> of, std::vector<datum> arguments, choice_map const& observed)
    : core_(std::move(of)), arguments_(std::move(arguments)), trip_counts_(core_->trip_counts(arguments_)),
      given_(*core_, observed) {}

void trace_growth::begin(trace_extension const& by, std::vector<std::vector<i64>> const& before) {
  model_core const& m = *by.core();
  shapes_ = before;
  std::span<i64 const> trip_counts = by.trip_counts();
  for (std::uint32_t s = 0; s < before.size(); ++s) {
    bool has_rows = true;
    for (std::size_t axis = 0; axis < before[s].size(); ++axis) {
      i64 const n = trip_counts[axis], old_extent = before[s][axis];
      if (n == unknown_trip_count)
        reject(
            m, s, "is nested in a branch, or its number depends on more than numbers and sizes of arguments");
      if (axis == 0 ? n < old_extent : n != old_extent && has_rows)
        reject(m, s, axis == 0 ? "would have fewer choices" : "would have rows of another length");
      has_rows = has_rows && old_extent > 0;
      shapes_[s][axis] = n;
    }
    trip_counts = trip_counts.subspan(before[s].size());
    if (m.sites()[s].type.rank > 0 && before[s].size() > 1 && shapes_[s] != before[s])
      reject(m, s, "is an array in a map in another one");
  }
  for (detail::given_choice const& c : by.given().all())
    detail::site_constraints::check_size(m, c, shapes_[c.site]);
  is_growing_ = true;
}

void trace_growth::was_set(std::uint32_t s, std::size_t number) {
  auto const is_it = [&](choice_index const& c) {
    return c.site == s && (c.number == number || number == choice_index::all);
  };
  next_ -= static_cast<std::size_t>(
      std::count_if(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(next_), is_it));
  std::erase_if(pending_, is_it);
}

void trace_growth::sort(trace_structure const& structure) {
  std::vector<i64> of_a, of_b;
  std::ranges::sort(
      pending_.begin() + static_cast<std::ptrdiff_t>(next_), pending_.end(),
      [&](choice_index const& a, choice_index const& b) { return is_before(structure, a, b, of_a, of_b); });
}

void trace_growth::clear() {
  observed_.clear(), conditional_constraints_.clear(), pending_.clear();
  next_ = 0;
  is_growing_ = false;
}

bool trace_growth::is_before(
    trace_structure const& structure, choice_index const& a, choice_index const& b, std::vector<i64>& of_a,
    std::vector<i64>& of_b) const {
  indices_of(shapes_[a.site], a.number, of_a);
  indices_of(shapes_[b.site], b.number, of_b);
  return structure.order().is_before(a.site, of_a, b.site, of_b);
}

void trace_growth::reject_array(model_core const& m, std::uint32_t s, std::vector<i64> const& at) {
  throw model_error(message(
      "overdub: the appended choice %.80s is an array, which is not drawn for a trace that grows; "
      "give it, or change the trace by update",
      text_of(address(m.sites()[s].address, at)).c_str()));
}

bool trace_growth::begins_with(datum const& x, datum const& beginning) {
  auto const &whole = x.shape(), &part = beginning.shape();
  if (whole[0] < part[0] || !std::equal(part.begin() + 1, part.end(), whole.begin() + 1)) return false;
  return execute::with_type(x.type().element, [&]<class T>(T) {
    auto const &from = beginning.elements<T>(), &to = x.elements<T>();
    return from.empty() ||
           std::memcmp(from.data(), to.data(), static_cast<std::size_t>(from.size()) * sizeof(T)) == 0;
  });
}

datum trace_growth::zeros(ir::type t, std::span<i64 const> shape) {
  for (std::size_t k = 0; k < shape.size(); ++k) t = t.array_of();
  increments::cells none(t);
  none.assign(nullptr, shape.data());
  return none.as_datum();
}

void trace_growth::reject(model_core const& m, std::uint32_t s, char const* why) {
  throw model_error(message(
      "overdub: with these arguments the choice \"%s\" %s, and a trace grows by iterations of its outermost "
      "maps "
      "and loops; change it by update",
      m.sites()[s].address.c_str(), why));
}

void trace_growth::check_size(std::vector<i64> const& shape, ir::type t) {
  (void)execute::bytes_for(
      shape.data(), static_cast<std::uint32_t>(shape.size()), execute::size_of(t.element));
}

} // namespace overdub::models
