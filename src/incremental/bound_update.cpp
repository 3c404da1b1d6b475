#include <overdub/incremental/bound_update.hpp>

#include <memory>
#include <utility>

namespace overdub {

bound_update::bound_update(std::shared_ptr<runnable_update const> s)
    : update(std::move(s)), failed_guards(update->program.failed_guards), call(update->code) {}
bound_update::~bound_update() = default;

} // namespace overdub
