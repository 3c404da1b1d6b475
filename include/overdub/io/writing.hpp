// writing: how an output file is written.
#pragma once

#include <overdub/core/requirements.hpp>

namespace overdub::io {

/// How the file is written.
enum class writing {
  at_once, ///< for short writes: a temporary file in the same folder until `commit`; removed without it
  streamed, ///< during a run. The data stay if the program fails or is killed, see `written_to`; without data, nothing
  ///< changes. A second writer of the same name is rejected, in this process or another.
  beside ///< as `streamed`, and with the suffix `unfinished` even if no file of the name exists
};

} // namespace overdub::io
