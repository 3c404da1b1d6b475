#include <overdub/compile/tiered_program.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/pass/pipeline.hpp>

#include <exception>
#include <functional>
#include <new>

namespace overdub {

tiered_program::tiered_program(ir::program p, compile_options const& o, optimised when, executable first)
    : options_(o), program_(std::move(p)), when_(when), code_(std::move(first), false) {
  if (options_.executor == nullptr || options_.tiers != tiers::interpret_first) {
    program_ = {};
    return;
  }
  is_warming_ = true;
  code_.wait_for_heat(options_.hot_calls, options_.hot_nanoseconds);
}

std::shared_ptr<tiered_program const>
tiered_program::of(ir::program p, compile_options const& o, optimised when) {
  struct made : tiered_program { // has a public constructor, for make_shared
    made(ir::program p, compile_options const& o, optimised when, executable first)
        : tiered_program(std::move(p), o, when, std::move(first)) {}
  };
  if (o.executor == nullptr || o.tiers != tiers::compile_now) {
    executable first(p);
    return std::make_shared<made const>(std::move(p), o, when, std::move(first));
  }
  if (when == optimised::when_compiled) pass::default_pipeline(p);
  executable first(o.executor->prepare(p));
  return std::make_shared<made const>(std::move(p), o, when, std::move(first));
}

std::vector<datum> tiered_program::run(std::span<datum const> arguments) const {
  std::vector<datum> results;
  counted([&] { results = executable(code()).run(arguments); });
  return results;
}

void tiered_program::heat() const noexcept {
  bool is_given = false;
  try {
    is_given = detail::run_in_background([weak = weak_from_this()] {
      if (auto const still = weak.lock()) still->swap_in();
    });
  } catch (std::bad_alloc const&) {
  }
  if (!is_given) is_warming_.store(false, std::memory_order_release);
}

// Runs on the background thread, the only one that reads the program.
void tiered_program::swap_in() const noexcept {
  try {
    if (when_ == optimised::when_compiled) pass::default_pipeline(program_);
    code_.swap_in(options_.executor->prepare(program_));
  } catch (...) { // the program remains interpreted
  }
  program_ = {};
  is_warming_.store(false, std::memory_order_release);
}

bool tiered_call::improve() {
  if (warming_ == nullptr || warming_->is_warming()) return false;
  bool const is_better = !warming_->is_run_by(code());
  if (is_better) replace(warming_->code());
  warming_ = nullptr;
  return is_better;
}

} // namespace overdub
