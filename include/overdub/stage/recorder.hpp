// The program that is being staged, and the places in it where operations are appended.
#pragma once

#include <overdub/ir/cursor.hpp>
#include <overdub/ir/equal.hpp>
#include <overdub/ir/infer.hpp>
#include <overdub/pass/canonicalise.hpp>
#include <overdub/stage/symbol.hpp>

#include <algorithm>
#include <any>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tsl/robin_map.h>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub {

/// A program could not be staged.
struct staging_error : error {
  using error::error;
};

namespace detail {

// Tells one list of types from another at run time.
template <class... T>
inline constexpr char type_key{};

class recorder {
public:
  static constexpr int most_signatures = 64;
  static constexpr std::uint32_t unrolled = 1000; // operations in one function, from which on a note is made

  ir::program program;

  ir::cursor& at() { return open_.back(); }
  ir::function const& here() { return *open_.back(); }

  // ---- where operations go

  // Operations go into a region of the function at hand, or of another one, until the end of the scope.
  class inside {
  public:
    inside(recorder& r, ir::function_id f, ir::region_id region) : recorder_(r) {
      r.open_.emplace_back(r.program, f, region);
    }
    inside(inside const&) = delete;
    inside& operator=(inside const&) = delete;
    ~inside() { recorder_.open_.pop_back(); }

  private:
    recorder& recorder_;
  };
  [[nodiscard]] inside enter(ir::region_id region) { return inside(*this, at().id(), region); }
  [[nodiscard]] inside enter(ir::function_id f) { return inside(*this, f, ir::function::body); }

  ir::region_id region_of(ir::node_id n, std::uint32_t i) { return here().region_at(n, i); }

  // ---- operations

  ir::value_id
  add(ir::op code, std::span<ir::value_id const> operands, ir::type result, ir::attributes const& a = {}) {
    return here().result(insert(code, operands, {&result, 1}, a));
  }
  ir::node_id insert(
      ir::op code, std::span<ir::value_id const> operands, std::span<ir::type const> results,
      ir::attributes const& a = {}, std::span<std::vector<ir::type> const> regions = {}) {
    return at().insert(code, operands, results, a, regions);
  }
  // The value as one of another type: a literal at once.
  ir::value_id converted(ir::value_id v, ir::type to);

  std::vector<ir::type> types_of(std::span<ir::value_id const> values) {
    std::vector<ir::type> types;
    for (ir::value_id const v : values) types.push_back(here().type_of(v));
    return types;
  }

  template <class T>
  ir::value_id literal(T const& x) {
    if constexpr (is_array<T>) {
      std::vector<ir::value_id> elements;
      for (auto const& e : x) elements.push_back(literal(e));
      return add(ir::op::array, elements, ir_type_of<T>);
    } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>)
      return at().literal(x);
    else
      return at().literal(static_cast<std::int64_t>(x));
  }

  // The symbol of a native function. Others of the name have a number behind it.
  ir::symbol bind(std::string name, void (*run)(void*, void const* const*, void* const*), void* object) {
    std::string const base = name;
    for (int number = 2;; ++number) {
      ir::symbol const s = program.intern(name);
      ir::host_binding const* known = program.host(s);
      if (known == nullptr) program.hosts.push_back({s, run, object});
      if (known == nullptr || (known->run == run && known->object == object)) return s;
      name = base + '#' + std::to_string(number);
    }
  }

  // ---- functions

  struct staged {
    ir::function_id id;
    std::any results; // a tree of symbols of what it returns, when its body has been staged
  };
  // The key of a function that is made of another program's function: one for each way of making.
  void const* key_of(void const* way, void const* of, std::uint32_t number) {
    return &made_keys_[{reinterpret_cast<std::uintptr_t>(way), reinterpret_cast<std::uintptr_t>(of), number}];
  }
  // What is known of a function called with arguments of certain types; told by the address of their key.
  staged* find(void const* key) {
    auto const at = of_key_.find(key);
    return at == of_key_.end() ? nullptr : &functions_[at->second];
  }
  ir::function_id id_of(std::size_t number) const { return functions_[number].id; }
  // A function for operations that nobody needs: those that make a value of a type, to be filled with other symbols.
  ir::function_id scratch() {
    if (scratch_ == ir::nothing) scratch_ = program.add("", {});
    return scratch_;
  }
  // The program, finished: functions of one name are numbered by their signatures, whichever was staged first.
  ir::program finish() {
    if (scratch_ != ir::nothing) program.erase(scratch_);
    std::vector<ir::function_id> all;
    for (std::uint32_t i = 0; i < program.functions.size(); ++i)
      if (!program.is_erased(ir::function_id{i})) all.push_back(ir::function_id{i});
    auto signature = [&](ir::function_id f) {
      std::string text;
      for (ir::value_id const v : program[f].parameters())
        text += ir::text_of(program, program[f].type_of(v)) + ',';
      return text;
    };
    std::vector<std::tuple<std::string, std::string, ir::function_id>> sorted;
    for (ir::function_id const f : all) sorted.emplace_back(base_name(program.name_of(f)), signature(f), f);
    std::ranges::sort(sorted);
    std::string last;
    int number = 0;
    for (auto const& [base, types, f] : sorted) {
      number = base == last ? number + 1 : 1;
      last = base;
      program[f].name = program.intern(number == 1 ? base : base + '#' + std::to_string(number));
    }
    pass::canonicalise(program);
    return std::move(program);
  }
  // The name without the number of its signature: f of f#2.
  static std::string_view base_name(std::string_view name) {
    std::size_t const behind = name.find_last_not_of("0123456789");
    bool const is_numbered =
        behind != name.npos && behind > 0 && behind + 1 < name.size() && name[behind] == '#';
    return is_numbered ? name.substr(0, behind) : name;
  }
  // Of several functions of one name the first has it, the others have a number behind it.
  std::string unique_name(std::string_view name) {
    int const signatures = ++signatures_of_[std::string(name)];
    if (signatures > most_signatures) throw_signatures(name);
    return signatures == 1 ? std::string(name) : std::string(name) + '#' + std::to_string(signatures);
  }
  // Begins a function, whose body is staged next.
  std::size_t begin(void const* key, std::string_view name, std::span<ir::type const> parameters) {
    functions_.push_back({program.add(unique_name(name), parameters), {}});
    chain_.emplace_back(name);
    of_key_.emplace(key, functions_.size() - 1);
    return functions_.size() - 1;
  }
  // Ends it: `results` is what its body returned.
  void end(std::size_t number, std::any results) {
    auto const f = functions_[number].id;
    functions_[number].results = std::move(results);
    if (program[f].node_count() > unrolled) note_unrolled(f);
    chain_.pop_back();
  }

private:
  [[noreturn]] void throw_signatures(std::string_view name) const {
    std::string chain;
    std::size_t const first = chain_.size() > 6 ? chain_.size() - 6 : 0;
    for (std::size_t i = first; i < chain_.size(); ++i) chain += chain_[i] + " -> ";
    throw staging_error(message(
        "overdub: staging made more than %d signatures of %.*s, called by %s%.*s; does it call itself with "
        "arguments of ever new "
        "types?",
        most_signatures, static_cast<int>(name.size()), name.data(), chain.c_str(),
        static_cast<int>(name.size()), name.data()));
  }
  void note_unrolled(ir::function_id f) {
    program.notes.push_back(
        {.text = "@" + std::string(base_name(program.name_of(f))) + " has " +
                 std::to_string(program[f].node_count()) +
                 " operations: a loop of C++ is unrolled; use overdub::loop, overdub::while_, overdub::map "
                 "or overdub::reduce",
         .at = program[f].place});
  }

  ir::function_id scratch_ = ir::nothing;
  std::map<std::tuple<std::uintptr_t, std::uintptr_t, std::uint32_t>, char>
      made_keys_; // whose addresses are keys
  std::vector<ir::cursor> open_;
  std::vector<staged> functions_;
  tsl::robin_map<void const*, std::size_t> of_key_;
  tsl::robin_map<std::string, int> signatures_of_;
  std::vector<std::string> chain_; // the functions whose bodies are being staged
};

inline ir::value_id recorder::converted(ir::value_id v, ir::type to) {
  ir::function const& f = here();
  ir::type const from = f.type_of(v);
  if (from == to) return v;
  if (!f.is_literal(v)) return add(ir::op::convert, {&v, 1}, to);
  auto as = [&](auto x) {
    switch (to.element) {
    case ir::scalar::boolean:
      return at().literal(native::convert<bool>(x));
    case ir::scalar::i64:
      return at().literal(native::convert<std::int64_t>(x));
    case ir::scalar::f32:
      return at().literal(native::convert<float>(x));
    default:
      return at().literal(native::convert<double>(x));
    }
  };
  std::uint64_t const bits = f.bits_of(v);
  switch (from.element) {
  case ir::scalar::boolean:
    return as(bits != 0);
  case ir::scalar::i64:
    return as(static_cast<std::int64_t>(bits));
  case ir::scalar::f32:
    return as(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  default:
    return as(std::bit_cast<double>(bits));
  }
}

} // namespace detail
} // namespace overdub
