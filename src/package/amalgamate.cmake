# Writes the installed form of the implementation: one file for each component, with the sources of src/ and the headers that only they
# include. A script of CMake, so that an installation needs no other program. Each src/x.hpp is a component. Variables: from (the folder
# src), to (the folder of the files).
cmake_policy(VERSION 3.25)

# Appends the text of a file to that of the component, in the place of its first include; the other includes of it are dropped. Text of C++
# has semicolons and brackets: it is in quotes wherever it is used, and in no list.
function(amalgamate path)
  get_property(is_in GLOBAL PROPERTY "in ${component} ${path}")
  if(is_in)
    return()
  endif()
  set_property(GLOBAL PROPERTY "in ${component} ${path}" TRUE)
  file(READ "${from}/${path}" text)
  if(path STREQUAL "${component}.hpp") # its first line is written already
    string(REGEX REPLACE "^//[^\n]*\n" "" text "${text}")
  endif()
  string(REPLACE "#pragma once\n" "" text "${text}")
  string(MAKE_C_IDENTIFIER "OVERDUB_IMPLEMENTATION_${path}" guard) # the file may be in another component, too
  set(before "\n// ---- ${path}\n#ifndef ${guard}\n#define ${guard}\n")
  while(text MATCHES "(^|\n)#include <overdub/implementation/([^>]+)>")
    set(line "#include <overdub/implementation/${CMAKE_MATCH_2}>")
    set(included "${CMAKE_MATCH_2}")
    string(FIND "${text}" "${line}" start)
    string(LENGTH "${line}" length)
    math(EXPR end "${start} + ${length}")
    string(SUBSTRING "${text}" 0 ${start} head)
    string(SUBSTRING "${text}" ${end} -1 text)
    file(APPEND "${to}/${component}.hpp" "${before}${head}")
    set(before "")
    amalgamate("${included}")
  endwhile()
  file(APPEND "${to}/${component}.hpp" "${before}${text}#endif\n")
endfunction()

file(REMOVE_RECURSE "${to}")
file(GLOB components RELATIVE "${from}" "${from}/*.hpp")
list(TRANSFORM components REPLACE "[.]hpp$" "")
foreach(component IN LISTS components)
  file(READ "${from}/${component}.hpp" text)
  if(NOT text MATCHES "#include <overdub/implementation/[a-z_]+/") # it includes other components alone
    file(WRITE "${to}/${component}.hpp" "${text}")
    continue()
  endif()
  string(REGEX MATCH "^//[^\n]*\n" subject "${text}")
  file(WRITE "${to}/${component}.hpp" "${subject}#pragma once\n")
  amalgamate("${component}.hpp")
endforeach()
