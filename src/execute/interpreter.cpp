#include <overdub/execute/interpreter.hpp>
#include <overdub/implementation/execute/lower.hpp>
#include <overdub/implementation/execute/machine.hpp>
#include <overdub/ir/verify.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub {
namespace execute {

inline ir::program const& checked(ir::program const& p, ir::function_id f) {
  if (index_of(f) >= p.functions.size() || p.is_erased(f))
    throw not_executable(message("overdub: the program has no entry, or the given function does not exist or "
                                 "was erased; set program::entry, or pass the id of an existing function"));
  ir::verify(p);
  return p;
}

void throw_moved(char const* what) {
  throw error(message("overdub: this %s was moved from; assign to it before it is used", what));
}

} // namespace execute

executable::executable(
    ir::program const& p, ir::function_id f, hosts const& h, execution_options const& options)
    : code_(execute::lower(execute::checked(p, f), f, h.registry(), options)) {
  check_signature();
}
executable::executable(std::shared_ptr<execute::code const> made) : code_(std::move(made)) {
  check_signature();
}
executable::executable(executable const& other) = default;
executable::executable(executable&& other) noexcept = default;
executable& executable::operator=(executable const& other) = default;
executable& executable::operator=(executable&& other) noexcept = default;
executable::~executable() = default;

void executable::check_signature() const {
  for (auto const* const all : {&code_->parameters, &code_->results})
    for (ir::type const t : *all)
      if (t.is_function())
        throw not_executable(message(
            "overdub: @%s has a parameter or a result of a function type, which cannot be passed to or from "
            "C++; "
            "execute a function of the program that calls it",
            code_->name.c_str()));
}

std::vector<datum> executable::run(std::span<datum const> arguments, void* const* contexts) const {
  execute::borrowed_machine m;
  execute::program_run run(*code(), *m);
  run.on_data(arguments, contexts);
  execute::releasing const at_end(run);
  return run.data();
}

instance executable::instance(execution_limits const& limits) const {
  return overdub::instance(code(), limits);
}

instance::instance(std::shared_ptr<execute::code const> code, execution_limits const& limits)
    : code_(std::move(code)), machine_(std::make_unique<execute::machine>()), run_(*code_, *machine_) {
  machine_->limits = limits;
}
instance::instance(instance&& other) noexcept = default;
instance& instance::operator=(instance&& other) noexcept = default;
instance::~instance() = default;

std::vector<datum> instance::run(std::span<datum const> arguments) {
  check_held();
  begin();
  execute::flag const busy(busy_);
  run_.on_data(arguments);
  has_results_ = true;
  return run_.data();
}

std::size_t instance::array_bytes() const {
  check_held();
  return machine_->buffers.bytes();
}

void instance::begin() {
  if (busy_)
    throw not_executable(message(
        "overdub: an instance was called while it runs @%s, as by a native function that @%s calls; call the "
        "executable, or another instance",
        code_->name.c_str(), code_->name.c_str()));
  if (std::exchange(has_results_, false)) run_.release();
}

} // namespace overdub
