// What headers declare, and a library or one unit of a program defines: programs of C++, and programs in contexts. It calls programs.
#pragma once

#include <overdub/implementation/stage/evaluate.cpp>
#include <overdub/implementation/stage/program_set.cpp>
#include <overdub/implementation/stage/recorder.cpp>
#include <overdub/implementation/stage/staged_hooks.cpp>
