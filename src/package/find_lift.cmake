# In the project itself: the programs that overdub_lift runs. OVERDUB_CLANG is false if there is no clang of the LLVM of overdub::lift.
if(TARGET overdub::lift AND TARGET overdub-opt)
  string(REGEX MATCH "^[0-9]+" overdub_llvm_major ${OVERDUB_LLVM_VERSION})
  find_program(OVERDUB_CLANG NAMES clang++-${overdub_llvm_major} HINTS /usr/lib/llvm-${overdub_llvm_major}/bin)
  set(OVERDUB_LIFT_LLVM ${OVERDUB_LLVM_VERSION})
  set(OVERDUB_OPT $<TARGET_FILE:overdub-opt>)
  set(OVERDUB_OPT_TARGET overdub-opt)
  include(${CMAKE_CURRENT_LIST_DIR}/overdub-lift.cmake)
endif()
