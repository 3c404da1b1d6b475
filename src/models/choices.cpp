#include <overdub/execute/datum_text.hpp>
#include <overdub/implementation/ir/parse/spelling.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/models/choices.hpp>

#include <algorithm>

namespace overdub::models {

address::address() = default;
address::address(address const& other) = default;
address::address(address&& other) noexcept = default;
address& address::operator=(address const& other) = default;
address& address::operator=(address&& other) noexcept = default;
address::~address() = default;

choice_map::choice_map() = default;
choice_map::choice_map(choice_map const& other) = default;
choice_map::choice_map(choice_map&& other) noexcept = default;
choice_map& choice_map::operator=(choice_map const& other) = default;
choice_map& choice_map::operator=(choice_map&& other) noexcept = default;
choice_map::~choice_map() = default;

selection::selection() = default;
selection::selection(selection const& other) = default;
selection::selection(selection&& other) noexcept = default;
selection& selection::operator=(selection const& other) = default;
selection& selection::operator=(selection&& other) noexcept = default;
selection::~selection() = default;

address::address(std::string of, std::vector<i64> at) : site(std::move(of)), indices(std::move(at)) {}
choice_map::choice_map(std::initializer_list<std::pair<address, datum>> all) {
  for (auto const& [at, x] : all) set(at, x);
}
bool operator==(choice_map const& a, choice_map const& b) { return a.all_ == b.all_; }
selection::selection(std::initializer_list<address> all) : all_(all) {}
selection& selection::add(address at) {
  all_.push_back(std::move(at));
  return *this;
}

namespace detail {
bool is_below(address const& a, address const& top) {
  return a.site == top.site && a.indices.size() > top.indices.size() &&
         std::equal(top.indices.begin(), top.indices.end(), a.indices.begin());
}
} // namespace detail

void indices_of(std::span<i64 const> shape, std::size_t number, std::vector<i64>& out) {
  out.resize(shape.size());
  for (std::size_t k = shape.size(); k-- > 0;) {
    auto const extent = static_cast<std::size_t>(shape[k]);
    out[k] = static_cast<i64>(number % extent);
    number /= extent;
  }
}

address::address(std::string_view text) {
  auto const reject = [&] {
    throw model_error(message(
        "overdub: \"%.100s\" is not an address: write a name, and indices after it, as in theta[3][1]",
        std::string(text).c_str()));
  };
  std::size_t at = text.find('[');
  site = text.substr(0, at);
  if (site.empty()) reject();
  while (at < text.size()) {
    if (text[at] != '[') reject();
    do {
      i64 index = 0;
      auto const [end, fault] = io::parse_number(text.data() + at + 1, text.data() + text.size(), index);
      if (fault != std::errc() || end == text.data() + text.size()) reject();
      indices.push_back(index);
      at = static_cast<std::size_t>(end - text.data());
    } while (text[at] == ',');
    if (text[at] != ']') reject();
    ++at;
  }
}

std::string text_of(address const& a) {
  std::string text = a.site;
  for (i64 const i : a.indices) text += '[' + std::to_string(i) + ']';
  return text;
}

datum part_of(datum const& all, std::span<i64 const> indices) {
  if (indices.empty()) return all;
  if (indices.size() > all.shape().size())
    throw index_error(
        message("overdub: %zu indices for an array of %zu axes", indices.size(), all.shape().size()));
  i64 first = 0;
  for (std::size_t k = 0; k < all.shape().size(); ++k) {
    i64 const i = k < indices.size() ? indices[k] : 0;
    if (k < indices.size() && (i < 0 || i >= all.shape()[k]))
      throw index_error(message(
          "overdub: index %lld is out of range for an axis of %lld elements", static_cast<long long>(i),
          static_cast<long long>(all.shape()[k])));
    first = first * all.shape()[k] + i;
  }
  datum::extents const shape(
      all.shape().begin() + static_cast<std::ptrdiff_t>(indices.size()), all.shape().end());
  auto const take = [&]<class T>(std::type_identity<T>) {
    array<T> const& from = all.elements<T>();
    if (shape.empty()) return datum(from[first]);
    i64 count = 1;
    for (i64 const n : shape) count *= n;
    return datum::of(
        shape, array<T>::copy_of(
                   from.span().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count))));
  };
  switch (all.type().element) {
  case ir::scalar::boolean:
    return take(std::type_identity<bool>{});
  case ir::scalar::i64:
    return take(std::type_identity<i64>{});
  case ir::scalar::f32:
    return take(std::type_identity<float>{});
  default:
    return take(std::type_identity<double>{});
  }
}

choice_map& choice_map::set(address at, datum x) {
  auto below = all_.upper_bound(at);
  while (below != all_.end() && detail::is_below(below->first, at)) below = all_.erase(below);
  all_.insert_or_assign(std::move(at), std::move(x));
  return *this;
}

datum part_if_inside(datum const& all, std::span<i64 const> indices) {
  return is_inside(all.shape(), indices) ? part_of(all, indices) : datum();
}

datum choice_map::find(address const& at) const {
  for (address above = at;; above.indices.pop_back()) {
    if (auto const found = all_.find(above); found != all_.end())
      return part_if_inside(found->second, std::span(at.indices).subspan(above.indices.size()));
    if (above.indices.empty()) return {};
  }
}

void detail::throw_choice_type(address const& at, ir::type wanted, ir::type found) {
  std::string const text = text_of(at), is = overdub::detail::text_of(found),
                    as = overdub::detail::text_of(wanted);
  if (found.rank > 0 && wanted.rank == 0)
    throw type_error(message(
        "overdub: %.80s is many numbers, of type %s, and is read as %s; read one of them, as "
        "%.80s[0], or all, as an array",
        text.c_str(), is.c_str(), as.c_str(), text.c_str()));
  throw type_error(message(
      "overdub: the choice %.80s is of type %s, and is read as %s; read it as its own type, or convert it",
      text.c_str(), is.c_str(), as.c_str()));
}

void choice_map::throw_missing(address const& at) const {
  ir::detail::nearest_word nearest(at.site);
  for (auto const& [other, x] : all_) nearest.try_word(other.site);
  throw model_error(message(
      "overdub: there is no choice at the address %.100s%s", text_of(at).c_str(),
      nearest.suggestion().c_str()));
}

std::ostream& operator<<(std::ostream& out, choice_map const& all) {
  for (auto const& [at, x] : all) out << text_of(at) << " = " << overdub::text_of(x) << '\n';
  return out;
}

bool selection::contains(std::string_view site, std::span<i64 const> indices) const {
  bool const found = std::ranges::any_of(all_, [&](address const& a) {
    return names(a, site) && a.indices.size() <= indices.size() &&
           std::equal(a.indices.begin(), a.indices.end(), indices.begin());
  });
  return found != is_complement_;
}

int selection::extent(std::string_view site) const {
  bool some = false;
  for (address const& a : all_)
    if (names(a, site)) {
      if (a.indices.empty()) return is_complement_ ? -1 : 1;
      some = true;
    }
  if (some) return 0;
  return is_complement_ ? 1 : -1;
}

namespace detail {

void throw_undrawable(address const& at, std::string_view why) {
  if (why.starts_with("overdub: ")) why.remove_prefix(9);
  throw model_error(message(
      "overdub: %s cannot be drawn: %.*s", text_of(at).c_str(), static_cast<int>(why.size()), why.data()));
}

} // namespace detail
} // namespace overdub::models
