#include <overdub/call/callee_name.hpp>
#include <overdub/call/name.hpp>
#include <overdub/call/native.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/pass/canonicalise.hpp>
#include <overdub/stage/program_set.hpp>
#include <overdub/stage/recorder.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tsl/robin_map.h>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::detail {

struct recorder::state {
  // The functions that have been staged, and those whose bodies are being staged.
  struct function_table {
    std::vector<staged> all;
    tsl::robin_map<void const*, std::size_t> number_of_key; // numbers are indices in `all`
    std::vector<std::string> being_staged;                  // the call chain: their names, outermost first
  };
  // The keys of staged functions. A key is the address of an element of `all`.
  struct key_table {
    std::map<std::pair<std::uintptr_t, variant>, char> all;
    std::map<void const*, std::uint32_t> ended_runs; // by the address of a context
  };
  // The names of functions. The second signature of f is f#2.
  struct name_table {
    tsl::robin_map<std::string, int> signatures;         // their number, for each name
    tsl::robin_map<std::string, std::string> unnumbered; // f, for f#2
  };

  function_table functions;
  key_table keys;
  name_table names;
  tsl::robin_map<ir::symbol, std::size_t> hosts; // native functions: their indices in program.hosts
  program_set programs;                          // the copies that `copy_of` returns
  std::vector<ir::cursor> cursors; // in the regions that have been entered; the current one is last
  ir::function_id scratch = ir::nothing;
};

recorder::recorder() : state_(std::make_unique<state>()), stack_(__builtin_frame_address(0)) {}
recorder::~recorder() = default;

ir::cursor& recorder::at() { return state_->cursors.back(); }
ir::function const& recorder::here() { return *state_->cursors.back(); }
void recorder::yield(std::span<ir::value_id const> results) { at().yield(results); }
void recorder::set_results(ir::node_id n, std::span<ir::type const> results) { at().set_results(n, results); }
ir::value_id recorder::literal(ir::type t, std::uint64_t bits) { return at().literal(t, bits); }
ir::value_id recorder::literal(double x) { return at().literal(x); }
ir::value_id recorder::literal(float x) { return at().literal(x); }
ir::value_id recorder::literal(std::int64_t x) { return at().literal(x); }
ir::value_id recorder::literal(bool x) { return at().literal(x); }
ir::function_id recorder::id_of(std::size_t number) const { return state_->functions.all[number].id; }

recorder::inside::inside(recorder& r, ir::region_id region) : inside(r, r.at().id(), region) {}
recorder::inside::inside(recorder& r, ir::function_id f, ir::region_id region) : recorder_(r) {
  r.state_->cursors.emplace_back(r.program, f, region);
}

recorder::inside::~inside() { recorder_.state_->cursors.pop_back(); }

ir::value_id
recorder::add(ir::op code, std::span<ir::value_id const> operands, ir::type result, ir::attributes const& a) {
  return here().result(insert(code, operands, {&result, 1}, a));
}

ir::node_id recorder::insert(
    ir::op code, std::span<ir::value_id const> operands, std::span<ir::type const> results,
    ir::attributes const& a, std::span<std::vector<ir::type> const> regions) {
  return at().insert(code, operands, results, a, regions);
}

std::vector<ir::type> recorder::types_of(std::span<ir::value_id const> values) {
  std::vector<ir::type> types;
  for (ir::value_id const v : values) types.push_back(here().type_of(v));
  return types;
}

void recorder::begin_context(void const* object) { state_->keys.ended_runs.try_emplace(object, 0u); }
void recorder::end_context(void const* object) { ++state_->keys.ended_runs.at(object); }

void const* recorder::key_of(void const* stager, variant v) {
  for (context_identity& c : v.contexts)
    if (auto const at = state_->keys.ended_runs.find(c.object); at != state_->keys.ended_runs.end())
      c.run = at->second;
  return &state_->keys.all[{reinterpret_cast<std::uintptr_t>(stager), std::move(v)}];
}

ir::program const& recorder::copy_of(ir::program const& p) {
  return state_->programs[state_->programs.number_of(p)];
}

recorder::staged* recorder::find(void const* key) {
  auto const at = state_->functions.number_of_key.find(key);
  return at == state_->functions.number_of_key.end() ? nullptr : &state_->functions.all[at->second];
}

ir::function_id recorder::scratch() {
  if (state_->scratch == ir::nothing) state_->scratch = program.add("", {});
  return state_->scratch;
}

// Functions of AddressSanitizer; null in a process without it.
static void* sanitizer_stack() __attribute__((weakref("__asan_get_current_fake_stack")));
static void* sanitizer_frame(void* stack, void* address, void** begin, void** end)
    __attribute__((weakref("__asan_addr_is_in_fake_stack")));

// The object is between the current stack frame and the one in which staging began; the stack grows downwards. AddressSanitizer stores
// local variables elsewhere, and returns the address of the stack frame that they belong to.
bool recorder::is_local(void const* object) const {
  if (sanitizer_stack != nullptr && sanitizer_frame != nullptr)
    if (void const* const frame =
            sanitizer_frame(sanitizer_stack(), const_cast<void*>(object), nullptr, nullptr))
      object = frame;
  return std::less<>{}(__builtin_frame_address(0), object) && std::less<>{}(object, stack_);
}

ir::symbol recorder::bind(
    std::string name, void (*run)(void*, void const* const*, void* const*), void* object,
    std::uint32_t context, void const* origin_in_cpp, bool is_hook) {
  std::string const base = name;
  if (std::size_t const at = context_at(object); object != nullptr && at < contexts.size()) {
    context = static_cast<std::uint32_t>(at);
    object = nullptr;
  }
  if (is_local(object))
    throw staging_error(message(
        "overdub: %s: the context is a local variable of a function that is staged. The program would call "
        "the context's hooks after the end of its lifetime. Declare the context outside of the function, and "
        "stage or compile the function in it",
        name.c_str()));
  for (int number = 2;; ++number) {
    ir::symbol const s = program.intern(name);
    auto const [at, is_new] = state_->hosts.try_emplace(s, program.hosts.size());
    if (is_new) program.hosts.push_back({s, run, object, context, origin_in_cpp, is_hook});
    ir::host_binding const& known = program.hosts[at->second];
    if (known.run == run && known.object == object && known.context == context) return s;
    name = base + '#' + std::to_string(number);
  }
}

void recorder::add_hook(hook const& h, std::span<ir::value_id const> operands) {
  if (h.has_state && !contexts.empty() && context_at(h.object) == contexts.size())
    throw staging_error(message(
        "overdub: the context %s has hooks and data members, and the program is not compiled for it. A "
        "compiled program calls the hooks of the contexts that it is compiled for. Compile the program for "
        "this context, too; if `enter` returned the context, remove its hooks or its data members",
        std::string(h.context).c_str()));
  for (std::span<std::byte const> const t : temporaries)
    if (auto const* const at = static_cast<std::byte const*>(h.object);
        h.has_state && std::less_equal<>{}(t.data(), at) && std::less<>{}(at, t.data() + t.size()))
      throw staging_error(message(
          "overdub: the context %s is, or is a part of, a context that `enter` returned by value. The "
          "program would call its hooks after the end of its lifetime. Return a reference to a member of the "
          "outer context",
          std::string(h.context).c_str()));
  // The hooks of a context without data members may be called on any object; this one is never destroyed.
  void* const object =
      h.has_state || context_at(h.object) < contexts.size() ? h.object : const_cast<char*>(h.context.data());
  std::string name(h.context);
  name.append(".").append(h.name).append(" ").append(h.function);
  for (std::size_t i = 0; i < operands.size(); ++i)
    name += (i == 0 ? "(" : ", ") + ir::text_of(program, here().type_of(operands[i]));
  name += operands.empty() ? "()" : ")";
  ir::attributes a =
      ir::attributes::of(bind(name, h.run, object, ir::host_binding::no_context, nullptr, true));
  a.effects = effect::ordered;
  insert(ir::op::host, operands, {}, a);
}

// The type to which operand `i` of an elementwise operation is converted. `widest` is the widest element type of its operands.
static ir::type operand_type(ir::type_rule rule, std::size_t i, ir::type widest, ir::type result) {
  using enum ir::type_rule;
  switch (rule) {
  case integer:
    return ir::i64;
  case comparison:
  case test:
    return widest;
  case logical:
    return ir::boolean;
  case ir::type_rule::select:
    return i == 0 ? ir::boolean : result;
  case integer_floating:
    return i == 0 ? ir::i64 : result;
  case floating_integer:
    return i == 1 ? ir::i64 : result;
  default:
    return result;
  }
}

ir::value_id recorder::elementwise(ir::op code, std::span<ir::value_id> operands, ir::type result) {
  if (code == ir::op::none) return converted(operands[0], result);
  ir::type widest;
  for (ir::value_id const v : operands)
    if (ir::type const t = here().type_of(v); t.element > widest.element) widest = t;
  for (std::size_t i = 0; i < operands.size(); ++i)
    operands[i] = converted(operands[i], operand_type(ir::row_of(code).types, i, widest, result));
  return add(code, operands, result);
}

ir::value_id recorder::converted(ir::value_id v, ir::type to) {
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

ir::program recorder::finish() {
  ir::program made = take();
  pass::canonicalise(made);
  return made;
}
ir::program recorder::take() {
  if (state_->scratch != ir::nothing) program.erase(state_->scratch);
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
  for (ir::function_id const f : all) {
    std::string const made(program.name_of(f));
    auto const known = state_->names.unnumbered.find(made);
    sorted.emplace_back(known == state_->names.unnumbered.end() ? made : known->second, signature(f), f);
  }
  std::ranges::sort(sorted);
  std::string last;
  int number = 0;
  for (auto const& [base, types, f] : sorted) {
    number = base == last ? number + 1 : 1;
    last = base;
    program[f].name = program.intern(number == 1 ? base : base + '#' + std::to_string(number));
  }
  return std::move(program);
}

std::string_view recorder::base_name(std::string_view name) {
  return detail::names_version(name) ? name.substr(0, name.find_last_of('#')) : name;
}

std::string recorder::unique_name(std::string_view name) {
  int const signatures = ++state_->names.signatures[std::string(name)];
  if (signatures == 1) return std::string(name);
  std::string made = std::string(name) + '#' + std::to_string(signatures);
  state_->names.unnumbered.emplace(made, name);
  return made;
}

std::size_t recorder::begin(void const* key, std::string_view name, std::span<ir::type const> parameters) {
  state_->functions.all.push_back({program.add(unique_name(name), parameters), {}});
  if (std::ranges::count(state_->functions.being_staged, name) == max_nested) throw_nested(name);
  state_->functions.being_staged.emplace_back(name);
  state_->functions.number_of_key.emplace(key, state_->functions.all.size() - 1);
  return state_->functions.all.size() - 1;
}

void recorder::end(std::size_t number, std::any results) {
  auto const f = state_->functions.all[number].id;
  state_->functions.all[number].results = std::move(results);
  if (program[f].node_count() > max_operations_without_note) note_unrolled(f);
  state_->functions.being_staged.pop_back();
}

void recorder::stage_function(
    function_to_stage const& f, std::span<ir::value_id const> operands, std::vector<ir::type> const& results,
    void const* body, std::any (*stage)(void const* body, std::vector<ir::value_id>& yielded)) {
  std::size_t const number = begin(f.key, f.name, types_of(operands));
  ir::function_id const id = id_of(number);
  program[id].origin_in_cpp = f.origin_in_cpp;
  if (!f.origin_name.empty()) program[id].origin_name = interned_name(f.origin_name);
  auto const scope = enter(id);
  if (!results.empty()) program[id].results = results;
  std::vector<ir::value_id> yielded;
  std::any tree = stage(body, yielded);
  yield(yielded);
  program[id].results = types_of(yielded);
  end(number, std::move(tree));
}

ir::id_range<ir::value_id>
recorder::call(staged const& f, std::span<ir::value_id const> operands, std::uint8_t flags) {
  std::vector<ir::type> const types = program[f.id].results;
  return here().results_of(
      insert(ir::op::call, operands, types, {.subject = index_of(f.id), .flags = flags}));
}

[[noreturn]] void recorder::throw_nested(std::string_view name) const {
  std::string chain;
  std::size_t const first =
      state_->functions.being_staged.size() > 6 ? state_->functions.being_staged.size() - 6 : 0;
  for (std::size_t i = first; i < state_->functions.being_staged.size(); ++i)
    chain += state_->functions.being_staged[i] + " -> ";
  throw staging_error(message(
      "overdub: staging created more than %d signatures of %.*s, each nested in the one before; the call "
      "chain ends in %s%.*s. A recursive call of a staged function must repeat the types of its arguments, "
      "the lengths of its vectors and the data members of its contexts",
      max_nested, static_cast<int>(name.size()), name.data(), chain.c_str(), static_cast<int>(name.size()),
      name.data()));
}

void recorder::note_unrolled(ir::function_id f) {
  program.notes.push_back(
      {.text = std::string("@").append(base_name(program.name_of(f))) + " has " +
               std::to_string(program[f].node_count()) +
               " operations, since staging unrolls loops of C++; overdub::loop, overdub::while_, "
               "overdub::map and overdub::reduce stage a loop as one operation",
       .at = program[f].place});
}

ir::program combination_by(ir::op operation, ir::type element) {
  ir::program p;
  p.entry = p.add(ir::row_of(operation).name, std::vector{element, element});
  auto const given = p[p.entry].parameters();
  std::vector<ir::value_id> const sides(given.begin(), given.end());
  ir::cursor at(p, p.entry, ir::function::body);
  ir::node_id const combined = at.insert(operation, sides, std::vector{element});
  at.yield(std::vector{p[p.entry].result(combined)});
  return p;
}

ir::program fold_by(ir::op operation, ir::type element) {
  ir::program p;
  p.entry = p.add("in_order", std::vector{element.array_of(), element});
  ir::value_id const array = p[p.entry].argument(ir::function::body, 0),
                     initial = p[p.entry].argument(ir::function::body, 1);
  ir::cursor at(p, p.entry, ir::function::body);
  ir::value_id const count = at.add(ir::op::length, array);
  auto const all = ir::builder(at).loop(count, {initial}, [&](ir::value_id i, ir::builder::values const& s) {
    return at.add(operation, s[0], at.add(ir::op::at, array, i));
  });
  at.yield(all.results);
  return p;
}

} // namespace overdub::detail
