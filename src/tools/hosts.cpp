#include "hosts.hpp"

#include <overdub/execute/datum_text.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/type_text.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace overdub::tools {
namespace {

std::vector<datum> print_data(std::span<datum const> data, std::ostream& out) {
  for (std::size_t i = 0; i < data.size(); ++i) out << (i ? ", " : "") << data[i];
  out << '\n';
  return {};
}
std::vector<datum> identity(std::span<datum const> data, std::ostream&) { return {data.begin(), data.end()}; }
std::vector<datum> fail_always(std::span<datum const>, std::ostream&) {
  throw std::runtime_error("the host function fail was called");
}

// Calls f(std::type_identity<T>) with the C++ type of a type.
template <class F>
void with_type(ir::type t, F const& f) {
  auto const at_rank = [&]<class T>(std::type_identity<T>) {
    if (t.rank == 0)
      f(std::type_identity<T>{});
    else if (t.rank == 1)
      f(std::type_identity<array<T>>{});
    else
      f(std::type_identity<array<array<T>>>{});
  };
  switch (t.element) {
  case ir::scalar::boolean:
    return at_rank(std::type_identity<bool>{});
  case ir::scalar::i64:
    return at_rank(std::type_identity<i64>{});
  case ir::scalar::f32:
    return at_rank(std::type_identity<float>{});
  default:
    return at_rank(std::type_identity<double>{});
  }
}

bool is_data(ir::type t) {
  ir::type scalar = t;
  scalar.rank = 0;
  return scalar.is_literal() && t.rank <= 2;
}

} // namespace

std::span<host_row const> host_functions() {
  static constexpr std::array rows{
      host_row{"print", "writes its arguments on a line", print_data},
      host_row{"identity", "returns its arguments", identity},
      host_row{"fail", "throws", fail_always},
  };
  return rows;
}

void host_binder::run(void* object, void const* const* arguments, void* const* results) {
  auto const& of = *static_cast<bound const*>(object);
  std::vector<datum> data;
  for (std::size_t i = 0; i < of.arguments.size(); ++i)
    with_type(of.arguments[i], [&]<class T>(std::type_identity<T>) {
      data.push_back(datum(*static_cast<T const*>(arguments[i])));
    });
  auto const made = of.row->run(data, *of.out);
  auto const same = [](datum const& d, ir::type t) { return d.type() == t; };
  if (!std::ranges::equal(made, of.results, same))
    throw host_error(message(
        "overdub-opt: the host function \"%s\" does not return what the program wants of it",
        std::string(of.row->name).c_str()));
  for (std::size_t i = 0; i < made.size(); ++i)
    with_type(of.results[i], [&]<class T>(std::type_identity<T>) {
      *static_cast<T*>(results[i]) = made[i].as<T>();
    });
}

void host_binder::bind_missing(ir::program& p, std::string const& name) {
  auto const fail = [](void* object, void const* const*, void* const*) {
    throw host_error(message(
        "overdub-opt: the native function %.200s is called, which overdub-opt does not have; link what "
        "--embed writes "
        "with it",
        static_cast<std::string const*>(object)->c_str()));
  };
  if (auto const symbol = p.find_symbol(name))
    p.hosts.push_back({.name = *symbol, .run = fail, .object = const_cast<std::string*>(&name)});
}

void host_binder::bind(ir::program& p) {
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    ir::function_id const id{i};
    if (p.is_erased(id)) continue;
    ir::cursor c(p, id, ir::function::body);
    for (std::uint32_t k = 0; k < p[id].node_count(); ++k) {
      ir::node_id const n{k};
      ir::function const& f = p[id];
      if (f.is_erased(n) || f[n].code != ir::op::host || p.host(f[n].attributes.text())) continue;
      std::string name(p.text(f[n].attributes.text()));
      auto const row = std::ranges::find(host_functions(), std::string_view(name), &host_row::name);
      if (row == host_functions().end()) continue;
      bound b{&*row, out_, {}, {}};
      for (ir::value_id const v : f.operands_of(n)) b.arguments.push_back(f.type_of(v));
      for (ir::value_id const v : f.results_of(n)) b.results.push_back(f.type_of(v));
      if (!std::ranges::all_of(b.arguments, is_data) || !std::ranges::all_of(b.results, is_data)) continue;
      name += '(';
      for (ir::type const t : b.arguments) name += ir::text_of(p, t) + ',';
      name += ')';
      for (ir::type const t : b.results) name += ir::text_of(p, t) + ',';
      ir::symbol const typed = p.intern(name);
      if (!p.host(typed)) {
        all_.push_back(std::move(b));
        p.hosts.push_back({.name = typed, .run = &host_binder::run, .object = &all_.back()});
      }
      c.attributes_of(n).subject = index_of(typed);
    }
  }
}

} // namespace overdub::tools
