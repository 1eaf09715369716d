# cuzk_library and cuzk_process: how this project declares its targets.
#
# Folders are processes. A process may include `common` and `shm` and itself, never another process:
# what two processes need belongs into `common`. The rule is checked at configure time, file by file.

set(CUZK_PROCESS_FOLDERS supervisor synth_worker gpu_worker gateway cli)

# Fails when a source of `folder` includes a header of a process other than itself.
function(cuzk_check_includes folder)
  foreach(source IN LISTS ARGN)
    if(NOT IS_ABSOLUTE ${source})
      set(source ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    endif()
    if(NOT EXISTS ${source})
      continue()
    endif()
    file(STRINGS ${source} includes REGEX "^#include \"[a-z_]+/")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"([a-z_]+)/.*" "\\1" target "${line}")
      if(target IN_LIST CUZK_PROCESS_FOLDERS AND NOT target STREQUAL folder)
        message(FATAL_ERROR "${source}: ${line}\n  ${folder} must not include ${target}: "
          "what two processes share belongs into common/ or shm/")
      endif()
    endforeach()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()

# cuzk_library(NAME SOURCES ... [DEPENDS ...]): a static library of shared code.
function(cuzk_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" top ${relative})
  cuzk_check_includes(${top} ${ARG_SOURCES})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE cuzk_warnings)
endfunction()

# cuzk_process(NAME SOURCES ... [DEPENDS ...]): an executable in the build's bin folder.
function(cuzk_process name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" top ${relative})
  cuzk_check_includes(${top} ${ARG_SOURCES})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} cuzk_warnings)
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
