# Every library that the project takes from the distribution, found once and named once.
#
# scripts/quickstart installs the Debian packages; the message of a failed search names the package.

find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)                 # libboost-dev: Interprocess, Asio
find_package(spdlog REQUIRED)                     # libspdlog-dev
find_package(fmt REQUIRED)                        # libfmt-dev
find_package(nlohmann_json 3.11 REQUIRED)         # nlohmann-json3-dev
find_package(CLI11 REQUIRED)                      # libcli11-dev
find_package(OpenSSL REQUIRED COMPONENTS Crypto)  # libssl-dev: SHA-256 of keys
find_package(SQLite3 REQUIRED)                    # libsqlite3-dev
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)       # libxxhash-dev: section checksums
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)  # libtomlplusplus-dev

find_path(CUZK_CEREAL_INCLUDE cereal/cereal.hpp)  # libcereal-dev
if(NOT CUZK_CEREAL_INCLUDE)
  message(FATAL_ERROR "cereal is missing: install libcereal-dev")
endif()

if(CUZK_BUILD_TESTS)
  find_package(GTest REQUIRED)                    # libgtest-dev libgmock-dev
  find_library(CUZK_GMP gmp)                      # libgmp-dev: the independent big-integer answer
  if(NOT CUZK_GMP)
    message(FATAL_ERROR "libgmp is missing: install libgmp-dev")
  endif()
endif()
if(CUZK_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)                # libbenchmark-dev
endif()
