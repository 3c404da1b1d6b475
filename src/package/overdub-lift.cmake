# overdub_lift(target SOURCES source... [OPTIONS option...])
#
# Lifts functions of C and C++ sources for overdub::lifted. The target compiles the sources as it compiles others; if there is no such target,
# it is made as a static library. Besides, clang compiles them to LLVM bitcode, with the target's include directories, definitions and language
# standard, the definitions in CMAKE_<LANG>_FLAGS, and the OPTIONS; overdub-opt lifts them together, and what links the target links the program,
# too. Other flags of the target are not passed: name those that change the meaning of a source as OPTIONS.
#
# OVERDUB_CLANG and OVERDUB_OPT are the programs. Set OVERDUB_LIFT_EXPLAIN to print what is not lifted.
function(overdub_lift target)
  cmake_parse_arguments(PARSE_ARGV 1 lift "" "" "SOURCES;OPTIONS")
  if(lift_UNPARSED_ARGUMENTS OR NOT lift_SOURCES)
    message(FATAL_ERROR "overdub_lift(${target}): write overdub_lift(target SOURCES source... [OPTIONS option...])")
  endif()
  if(NOT OVERDUB_CLANG)
    message(FATAL_ERROR "overdub_lift(${target}): clang was not found. Its version may be at most that of LLVM ${OVERDUB_LIFT_LLVM}, with which overdub was "
      "built. Install it, or set OVERDUB_CLANG")
  endif()
  if(NOT OVERDUB_OPT)
    message(FATAL_ERROR "overdub_lift(${target}): overdub-opt was not found; install it, or set OVERDUB_OPT")
  endif()
  if(TARGET ${target}_programs)
    message(FATAL_ERROR "overdub_lift(${target}): its sources are lifted already; name all of them in one call")
  endif()
  if(NOT TARGET ${target})
    add_library(${target} STATIC)
  endif()
  target_sources(${target} PRIVATE ${lift_SOURCES})

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.lifted)
  file(MAKE_DIRECTORY ${folder})
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(bitcode "")
  foreach(source IN LISTS lift_SOURCES)
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WE)
    string(SHA256 digest ${path})
    string(SUBSTRING ${digest} 0 8 digest)
    string(APPEND name -${digest})
    set(language c++ CXX)
    if(source MATCHES "\\.c$")
      set(language c C)
    endif()
    list(GET language 0 driver)
    string(REPLACE "c" "gnu" dialect ${driver}) # accepts what either dialect accepts
    list(GET language 1 property)
    # As NDEBUG, which CMake defines so.
    separate_arguments(all UNIX_COMMAND "${CMAKE_${property}_FLAGS}")
    list(FILTER all INCLUDE REGEX "^(-[DU].|-f(un)?signed-char$)")
    foreach(config IN ITEMS Debug Release RelWithDebInfo MinSizeRel)
      string(TOUPPER ${config} upper)
      separate_arguments(some UNIX_COMMAND "${CMAKE_${property}_FLAGS_${upper}}")
      list(FILTER some INCLUDE REGEX "^(-[DU].|-f(un)?signed-char$)")
      list(TRANSFORM some PREPEND "$<$<CONFIG:${config}>:")
      list(TRANSFORM some APPEND ">")
      list(APPEND all ${some})
    endforeach()
    set(standard $<TARGET_PROPERTY:${target},${property}_STANDARD>)
    set(features $<TARGET_PROPERTY:${target},COMPILE_FEATURES>)
    set(required "")
    if(property STREQUAL "CXX")
      foreach(year IN ITEMS 17 20 23)
        list(APPEND required "$<$<IN_LIST:cxx_std_${year},${features}>:-std=gnu++${year}>")
      endforeach()
    endif()
    add_custom_command(OUTPUT ${folder}/${name}.bc DEPENDS ${path} DEPFILE ${folder}/${name}.d VERBATIM COMMAND_EXPAND_LISTS
      COMMENT "Compiling ${source} to bitcode"
      COMMAND ${OVERDUB_CLANG} -x ${driver} ${all} ${required} "$<$<BOOL:${standard}>:-std=${dialect}${standard}>"
        "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" ${lift_OPTIONS} -w
        -O1 -Xclang -disable-llvm-passes -gline-tables-only -emit-llvm -MD -MF ${folder}/${name}.d -MT ${folder}/${name}.bc
        -c ${path} -o ${folder}/${name}.bc)
    list(APPEND bitcode ${folder}/${name}.bc)
  endforeach()
  set(explain "")
  if(OVERDUB_LIFT_EXPLAIN)
    set(explain --explain)
  endif()
  add_custom_command(OUTPUT ${folder}/programs.cpp DEPENDS ${bitcode} ${OVERDUB_OPT_TARGET} VERBATIM
    COMMENT "Lifting the functions of ${target}"
    COMMAND ${OVERDUB_OPT} --lift ${bitcode} --embed ${folder}/programs.cpp ${explain})
  add_library(${target}_programs OBJECT ${folder}/programs.cpp)
  set_target_properties(${target}_programs PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target}_programs PRIVATE overdub::overdub)
  # Nothing refers to this object, so that an archive would not add it to a program.
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY" OR kind STREQUAL "OBJECT_LIBRARY")
    target_link_libraries(${target} INTERFACE $<BUILD_INTERFACE:$<TARGET_OBJECTS:${target}_programs>> overdub::overdub)
  else()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_programs>)
    target_link_libraries(${target} PRIVATE overdub::overdub)
  endif()
endfunction()
