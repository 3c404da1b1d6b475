#include <overdub/execute/bound_call.hpp>
#include <overdub/implementation/execute/array_words.hpp>
#include <overdub/implementation/execute/machine.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace overdub {

bound_call::bound_call(bound_call&& other) noexcept = default;
bound_call& bound_call::operator=(bound_call&& other) noexcept = default;
bound_call::~bound_call() = default;

bound_call::bound_call(std::shared_ptr<execute::code const> c, results_at where)
    : code_(std::move(c)), machine_(std::make_unique<execute::machine>()), compiled_(code_->compiled),
      where_(where) {
  execute::offset end = 0;
  for (ir::type const t : code_->parameters) {
    parameters_.push_back(end);
    end += execute::words_of(t) * execute::word_size;
  }
  argument_bytes_ = end;
  end = 0;
  for (ir::type const t : code_->results) {
    results_.push_back(end);
    end += execute::words_of(t) * execute::word_size;
  }
  if (where_ == results_at::frame) results_ = code_->functions[0].results;
  for (std::size_t i = 0; i < results_.size(); ++i)
    if (code_->results[i].rank > 0) arrays_.push_back(results_[i]);
  has_arrays_ = !arrays_.empty();
  first_ = &code_->instructions[code_->functions[0].entry];
  make_frame();
}

void bound_call::replace(std::shared_ptr<execute::code const> other) {
  bound_call made(std::move(other));
  std::memcpy(made.arguments(), arguments(), argument_bytes_);
  made.set_contexts(machine_->contexts);
  *this = std::move(made);
}

void bound_call::make_frame() {
  execute::code const& c = *code_;
  execute::function_code const& f = c.functions[0];
  execute::offset words = 0;
  for (ir::type const t : c.results) words += execute::words_of(t);
  at_.base = machine_->base(std::size_t{words} * execute::word_size + f.frame_bytes);
  at_.frame = at_.base + words * execute::word_size;
  at_.own = at_.given = where_ == results_at::base ? at_.base : at_.frame;
  execute::write(
      at_.frame + execute::return_at, where_ == results_at::base ? &c.instructions[c.launch] : nullptr);
  execute::write(at_.frame + execute::return_frame, at_.base);
  execute::write<std::byte*>(at_.frame + execute::previous_limit, nullptr);
  std::memset(arguments(), 0, argument_bytes_);
  if (f.literal_count > 0)
    std::memcpy(at_.frame + f.literals, &c.literals[f.first_literal], f.literal_count * execute::word_size);
}

void bound_call::set_contexts(void* const* contexts) { machine_->contexts = contexts; }
void bound_call::forget_buffers() { machine_->buffers.reset(); }

void bound_call::run_in_machine() {
  if (!std::exchange(is_ready_, false)) [[unlikely]] // the last call failed
    (void)machine_->base(0);
  machine_->program = code_.get();
  machine_->run(first_, at_.frame);
  is_ready_ = true;
  at_.given = at_.own;
  has_results_ = machine_->abandoned;
}

void bound_call::run_interpreted() {
  if (interpreted_ == nullptr)
    interpreted_.reset(
        new bound_call(std::shared_ptr<execute::code const>(code_, &code_->interpreted()), results_at::base));
  interpreted_->set_contexts(machine_->contexts);
  std::memcpy(interpreted_->arguments(), arguments(), argument_bytes_);
  interpreted_->run();
  at_.given = interpreted_->at_.base;
  has_results_ = true;
}

void bound_call::release() {
  has_results_ = false;
  if (std::exchange(at_.given, at_.own) != at_.own) return;
  if (std::exchange(machine_->abandoned, false)) return machine_->buffers.reset();
  for (execute::offset const array : arrays_) execute::release(*machine_, at_.own, array);
}

} // namespace overdub
