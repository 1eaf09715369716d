# The version and source revision that `cuzkctl version` and every process print.
#
# The revision is read when CMake runs; a build without git says "unknown".

execute_process(
  COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE CUZK_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET RESULT_VARIABLE git_failed)
if(git_failed OR NOT CUZK_REVISION)
  set(CUZK_REVISION unknown)
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.hpp.in
  ${PROJECT_BINARY_DIR}/generated/common/version.hpp @ONLY)
