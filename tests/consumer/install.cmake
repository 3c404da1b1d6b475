# Installs the project in `build` afresh to `stage`, and checks that every one of `headers` is there as a real file.
file(REMOVE_RECURSE ${stage})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${stage} COMMAND_ERROR_IS_FATAL ANY)

set(installed_contexts ${stage}/include/overdub/contexts)
if(IS_SYMLINK ${installed_contexts})
  message(SEND_ERROR "${installed_contexts} is a symbolic link")
endif()
foreach(header IN LISTS headers)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${source} OUTPUT_VARIABLE path)
  if(NOT EXISTS ${stage}/${path} OR IS_SYMLINK ${stage}/${path})
    message(SEND_ERROR "${path} is not installed as a file")
  endif()
endforeach()
