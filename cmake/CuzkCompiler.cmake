# Compiler settings that every target shares: C++20, strict warnings, ccache, sanitizers, output folders.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The programs find each other beside themselves, so they all go to one folder.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Paths relative to the checkout let all checkouts of a machine share what one of them compiled.
find_program(CUZK_CCACHE ccache)
if(CUZK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true
    ${CUZK_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
endif()

# Applied with target_link_libraries(... PRIVATE cuzk_warnings) by the functions of CuzkProcess.
add_library(cuzk_warnings INTERFACE)
target_compile_options(cuzk_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    -Wnull-dereference -Wformat=2 -Wimplicit-fallthrough>)
if(CUZK_WERROR)
  target_compile_options(cuzk_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()

if(CUZK_SANITIZE)
  add_compile_options($<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fsanitize=${CUZK_SANITIZE}>
    -fno-omit-frame-pointer -g)
  if(CUZK_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  add_link_options(-fsanitize=${CUZK_SANITIZE})
  # gcc's flow analysis sees phantom null dereferences in instrumented code.
  target_compile_options(cuzk_warnings INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-null-dereference -Wno-maybe-uninitialized>)
endif()

# Sections and a hardened link cost nothing here and help whoever debugs a crash record.
add_compile_options($<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fno-plt>)
add_link_options(-Wl,-z,relro -Wl,-z,now)
