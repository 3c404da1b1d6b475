#include <overdub/implementation/ir/literal_table.hpp>
#include <overdub/ir/cursor.hpp>

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace overdub::ir {

bool cursor::next() {
  node_ = next_;
  if (node_ == nothing) {
    place_at(function::body, nothing);
    return false;
  }
  place_at(here()[node_].parent, node_);
  after_regions_ = next_after(node_);
  node_id const inner = first_nested(node_, 0);
  next_ = inner != nothing ? inner : after_regions_;
  return true;
}

void cursor::to_yield(region_id r) {
  node_id const last = here()[r].last;
  place_at(r, last != nothing && here()[last].code == op::yield ? last : node_id(nothing));
}

value_id cursor::literal(type t, std::uint64_t bits) {
  function& f = here();
  detail::literal_table& known = f.literal_of_.get_or_create();
  if (auto const at = known.find({t, bits}); at != known.end()) return at->second;
  value_id const v{f.value_count()};
  f.values_.push_back(
      {.type = t, .from = origin::literal, .maker = static_cast<std::uint32_t>(f.literals_.size())});
  f.literals_.push_back(bits);
  known.emplace(detail::literal_key{t, bits}, v);
  return v;
}

// It is an argument of the body that is none of its arguments, so that it is defined where parameters are.
value_id cursor::free_value(type t) {
  function& f = here();
  value_id const v{f.value_count()};
  f.values_.push_back(
      {.type = t,
       .from = origin::argument,
       .maker = index_of(function::body),
       .index = index_of(value_id(nothing))});
  return v;
}

node_id cursor::insert(
    op code, values operands, types results, attributes const& a,
    std::span<std::vector<type> const> regions) {
  function& f = here();
  node_id const n{f.node_count()};
  function::node made{.code = code, .parent = region_, .place = place_, .attributes = a};
  made.first_region = f.region_count();
  made.region_count = static_cast<std::uint16_t>(regions.size());
  made.first_operand = static_cast<std::uint32_t>(f.uses_.size());
  made.operand_count = static_cast<std::uint32_t>(operands.size());
  made.first_result = f.new_values(results, origin::result, index_of(n));
  made.result_count = static_cast<std::uint32_t>(results.size());
  f.nodes_.push_back(made);
  for (auto const& arguments : regions) (void)f.new_region(n, arguments);
  for (value_id const v : operands) add_use(v, n);
  link(n);
  return n;
}

node_id cursor::insert(op code, values operands, attributes const& a) {
  std::vector<type> const results = infer(*program_, here(), code, operands, a);
  return insert(code, operands, results, a);
}

value_id cursor::convert(value_id x, type to) {
  type const results[] = {to};
  value_id const operands[] = {x};
  return here().result(insert(op::convert, operands, results));
}

void cursor::set_operand(node_id n, std::uint32_t i, value_id v) {
  use_id const u{here()[n].first_operand + i};
  remove_use(u);
  put_use(u, v);
}

void cursor::set_operands(node_id n, values operands) {
  function& f = here();
  std::vector<value_id> const copied(operands.begin(), operands.end());
  drop_operands(n);
  auto& node = f.nodes_[index_of(n)];
  node.first_operand = static_cast<std::uint32_t>(f.uses_.size());
  node.operand_count = static_cast<std::uint32_t>(copied.size());
  for (value_id const v : copied) add_use(v, n);
}

void cursor::set_results(node_id n, types results) {
  function& f = here();
  std::uint32_t const first = f.new_values(results, origin::result, index_of(n));
  f.nodes_[index_of(n)].first_result = first;
  f.nodes_[index_of(n)].result_count = static_cast<std::uint32_t>(results.size());
}

void cursor::substitute(value_id from, value_id to) {
  function& f = here();
  if (from == to) return;
  for (use_id u = f[from].first_use; u != nothing;) {
    use_id const following = f[u].next;
    remove_use(u);
    put_use(u, to);
    u = following;
  }
}

void cursor::replace(node_id n, values results) {
  for (std::uint32_t i = 0; i < results.size(); ++i) substitute(here().result(n, i), results[i]);
  erase(n);
}

void cursor::erase(node_id n) {
  function& f = here();
  leave(n);
  if (before_ == n || is_within(f[region_].parent, n)) place_at(f[n].parent, f[n].next);
  // The nested operations from last to first, and then n: a use is erased before its definition.
  for (node_id at = n;;) {
    node_id last = nothing;
    for (std::uint32_t i = f[at].region_count; i-- > 0 && last == nothing;) last = f[f.region_at(at, i)].last;
    if (last != nothing) {
      at = last;
      continue;
    }
    for (region_id const r : f.regions_of(at)) f.regions_[index_of(r)].parent = nothing;
    drop_operands(at);
    region_id const r = f[at].parent;
    unlink(at);
    if (at == n) return;
    at = f[r].parent;
  }
}

void cursor::move(node_id n) {
  if (before_ == n) return;
  leave(n);
  unlink(n);
  link(n);
}

std::vector<value_id> cursor::splice(region_id from, values arguments) {
  function& f = here();
  for (std::uint32_t i = 0; i < arguments.size(); ++i) substitute(f.argument(from, i), arguments[i]);
  node_id const last = f[from].last;
  std::vector<value_id> yielded;
  for (value_id const v : f.operands_of(last)) yielded.push_back(v);
  for (node_id n = f[from].first; n != last;) {
    node_id const following = f[n].next;
    move(n);
    n = following;
  }
  erase(last);
  return yielded;
}

void cursor::place_at(region_id r, node_id before) {
  region_ = r;
  before_ = before;
}

void cursor::put_use(use_id u, value_id v) {
  function& f = here();
  auto& use = f.uses_[index_of(u)];
  use.value = v;
  use.previous = nothing;
  use.next = f.values_[index_of(v)].first_use;
  if (use.next != nothing) f.uses_[index_of(use.next)].previous = u;
  f.values_[index_of(v)].first_use = u;
}

void cursor::add_use(value_id v, node_id user) {
  function& f = here();
  use_id const u{static_cast<std::uint32_t>(f.uses_.size())};
  f.uses_.push_back({.user = user});
  put_use(u, v);
}

void cursor::remove_use(use_id u) {
  function& f = here();
  auto& use = f.uses_[index_of(u)];
  if (use.previous == nothing)
    f.values_[index_of(use.value)].first_use = use.next;
  else
    f.uses_[index_of(use.previous)].next = use.next;
  if (use.next != nothing) f.uses_[index_of(use.next)].previous = use.previous;
}

void cursor::drop_operands(node_id n) {
  auto& node = here().nodes_[index_of(n)];
  for (std::uint32_t i = 0; i < node.operand_count; ++i) remove_use(use_id{node.first_operand + i});
  node.operand_count = 0;
}

void cursor::link(node_id n) {
  function& f = here();
  auto& node = f.nodes_[index_of(n)];
  auto& region = f.regions_[index_of(region_)];
  node.parent = region_;
  node.next = before_;
  node.previous = before_ == nothing ? region.last : f[before_].previous;
  (node.previous == nothing ? region.first : f.nodes_[index_of(node.previous)].next) = n;
  (before_ == nothing ? region.last : f.nodes_[index_of(before_)].previous) = n;
}

void cursor::unlink(node_id n) {
  function& f = here();
  auto& node = f.nodes_[index_of(n)];
  auto& region = f.regions_[index_of(node.parent)];
  (node.previous == nothing ? region.first : f.nodes_[index_of(node.previous)].next) = node.next;
  (node.next == nothing ? region.last : f.nodes_[index_of(node.next)].previous) = node.previous;
  node.parent = nothing;
  node.previous = node.next = nothing;
}

node_id cursor::first_nested(node_id n, std::uint32_t region) const {
  function const& f = here();
  for (; region < f[n].region_count; ++region)
    if (node_id const first = f[f.region_at(n, region)].first; first != nothing) return first;
  return nothing;
}

node_id cursor::next_after(node_id n) const {
  function const& f = here();
  for (;;) {
    if (f[n].next != nothing) return f[n].next;
    region_id const r = f[n].parent;
    n = f[r].parent;
    if (n == nothing) return nothing;
    if (node_id const following = first_nested(n, index_of(r) - f[n].first_region + 1); following != nothing)
      return following;
  }
}

void cursor::leave(node_id n) {
  if (is_within(next_, n)) next_ = next_after(n);
  if (is_within(after_regions_, n)) after_regions_ = next_after(n);
}

bool cursor::is_within(node_id n, node_id outer) const {
  function const& f = here();
  if (n == nothing || f[outer].region_count == 0) return n == outer;
  while (n != outer) {
    if (f[n].parent == nothing) return false;
    n = f[f[n].parent].parent;
    if (n == nothing) return false;
  }
  return true;
}

} // namespace overdub::ir
