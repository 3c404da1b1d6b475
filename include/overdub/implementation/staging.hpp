// What headers declare, and a library or one unit of a program defines: programs of C++, and programs in contexts. It calls programs.
#pragma once

#include <overdub/implementation/only_once.hpp>

#include <overdub/stage/evaluate.ipp>
#include <overdub/stage/program_set.ipp>
#include <overdub/stage/recorder.ipp>
#include <overdub/stage/staged_hooks.ipp>
