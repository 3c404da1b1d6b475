#include <overdub/stage/evaluation/copy.hpp>

namespace overdub::detail {

void refuse_context(ir::host_binding const& b) {
  if (b.context != ir::host_binding::no_context)
    throw host_error(
        message("overdub: evaluate: the program was compiled for contexts, which its calls bring; call what "
                "compile gave, or stage it in contexts of your own"));
}

} // namespace overdub::detail
