# Decides whether CUDA code is built: CUZK_CUDA=AUTO takes nvcc where it is found.
#
# The list of architectures is the builder's: the default fits an H200; a release build passes
# -DCMAKE_CUDA_ARCHITECTURES="80;86;89;90;100;120".

set(CUZK_CUDA_ENABLED OFF)
if(NOT CUZK_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    # CMake 3.25 does not know nvcc's flag for C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CUZK_CUDA_ENABLED ON)
  elseif(CUZK_CUDA STREQUAL "ON")
    message(FATAL_ERROR "CUZK_CUDA=ON, but no nvcc was found: install the CUDA Toolkit or put nvcc on PATH")
  endif()
endif()
message(STATUS "CUDA code: ${CUZK_CUDA_ENABLED}")
