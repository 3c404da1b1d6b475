#include <overdub/execute/run.hpp>
#include <overdub/implementation/execute/array_words.hpp>
#include <overdub/implementation/execute/machine.hpp>
#include <overdub/implementation/execute/ran_ahead.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::execute {

void throw_argument_count(code const& c, std::size_t given) {
  throw argument_error(message(
      "overdub: @%s takes %zu arguments, and was given %zu", c.name.c_str(), c.parameters.size(), given));
}
void throw_argument_type(code const& c, std::size_t i, ir::type given) {
  std::string const& name = c.parameter_names[i];
  throw argument_error(message(
      "overdub: @%s: parameter %zu%s%s is %s, and was given %s", c.name.c_str(), i + 1,
      name.empty() ? "" : ", %", name.c_str(), detail::text_of(c.parameters[i]).c_str(),
      detail::text_of(given).c_str()));
}
void throw_result_count(code const& c, std::size_t wanted) {
  throw type_error(message(
      "overdub: @%s returns %zu results, and %zu are requested; request them as call<std::tuple<...>>",
      c.name.c_str(), c.results.size(), wanted));
}
void throw_result_type(code const& c, std::size_t i, ir::type wanted) {
  throw type_error(message(
      "overdub: @%s: result %zu is %s, and is requested as %s", c.name.c_str(), i + 1,
      detail::text_of(c.results[i]).c_str(), detail::text_of(wanted).c_str()));
}

void program_run::on_data(std::span<datum const> arguments, void* const* contexts) {
  if (arguments.size() != c_->parameters.size()) throw_argument_count(*c_, arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) check(i, arguments[i].type());
  run(contexts, [&](auto const& pass) {
    for (datum const& d : arguments) pass(d);
  });
}
void program_run::on_words(void* const* contexts, std::byte const* arguments) {
  auto const pass = [&](std::byte* frame) {
    std::memcpy(frame + first_parameter, arguments, c_->parameters.size() * word_size);
  };
  run_on(*c_, contexts, pass);
}

std::vector<datum> program_run::data() const {
  std::vector<datum> all;
  offset at = 0;
  for (ir::type const t : c_->results) {
    all.push_back(datum_at(base_, at, t));
    at += words_of(t) * word_size;
  }
  return all;
}

void program_run::release() {
  if (std::exchange(m_->abandoned, false)) return m_->buffers.reset();
  offset at = 0;
  for (ir::type const t : c_->results) {
    if (t.rank > 0) execute::release(*m_, base_, at);
    at += words_of(t) * word_size;
  }
}

void program_run::run_with(void* const* contexts, pass_all pass) {
  if (!ran_ahead([&] { run_on(*c_, contexts, pass); })) run_on(c_->interpreted(), contexts, pass);
}

// After an exception, no buffers remain.
void program_run::run_on(code const& c, void* const* contexts, pass_all pass) {
  begin(c);
  m_->contexts = contexts;
  try {
    pass(frame_);
    m_->program = &c;
    m_->run(&c.instructions[c.functions[0].entry], frame_);
  } catch (...) {
    m_->buffers.reset();
    throw;
  }
}

void program_run::begin(code const& c) {
  function_code const& f = c.functions[0];
  offset words = 0;
  for (ir::type const t : c.results) words += words_of(t);
  base_ = m_->base(std::size_t{words} * word_size + f.frame_bytes);
  frame_ = base_ + words * word_size;
  write(frame_ + return_at, &c.instructions[c.launch]);
  write(frame_ + return_frame, base_);
  write<std::byte*>(frame_ + previous_limit, nullptr);
  if (f.literal_count > 0)
    std::memcpy(frame_ + f.literals, &c.literals[f.first_literal], f.literal_count * word_size);
}

/// The free machines of a thread.
class machine_pool {
public:
  static constexpr std::size_t maximum_free = 8;
  static constexpr int maximum_depth = 500;

  machine_pool() { free_.reserve(maximum_free); }
  machine_pool(machine_pool const&) = delete;
  machine_pool& operator=(machine_pool const&) = delete;
  ~machine_pool() { is_closed() = true; }

  /// The pool of this thread; nullptr while the thread ends.
  OVERDUB_HIDDEN static machine_pool* mine() {
    if (is_closed()) return nullptr;
    thread_local machine_pool pool;
    return &pool;
  }
  /// The number of nested runs on this thread.
  OVERDUB_HIDDEN static int& depth() {
    thread_local int n = 0;
    return n;
  }

  machine* take() {
    if (free_.empty()) return nullptr;
    machine* const last = free_.back().release();
    free_.pop_back();
    return last;
  }
  void give_back(std::unique_ptr<machine> m) {
    if (free_.size() < maximum_free) free_.push_back(std::move(m)); // cannot throw: capacity is reserved
  }

private:
  OVERDUB_HIDDEN static bool& is_closed() {
    thread_local bool flag = false;
    return flag;
  }

  std::vector<std::unique_ptr<machine>> free_;
};

borrowed_machine::borrowed_machine() {
  if (machine_pool::depth() == machine_pool::maximum_depth)
    throw stack_overflow(message(
        "overdub: programs and host functions call each other more than %d deep; end the recursion earlier, "
        "or recurse inside the program",
        machine_pool::maximum_depth));
  machine_pool* const pool = machine_pool::mine();
  machine_ = pool == nullptr ? nullptr : pool->take();
  if (machine_ == nullptr) machine_ = new machine;
  ++machine_pool::depth();
}
borrowed_machine::~borrowed_machine() {
  std::unique_ptr<machine> mine(machine_);
  --machine_pool::depth();
  if (machine_pool* const pool = machine_pool::mine()) pool->give_back(std::move(mine));
}

} // namespace overdub::execute
