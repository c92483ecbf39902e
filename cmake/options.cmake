# What a user of the build may choose.

set(DATUM_SANITIZE "" CACHE STRING "Sanitizers to build with: empty, 'address,undefined' or 'thread'")
set_property(CACHE DATUM_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")
option(DATUM_WITH_RTL "Build the Verilated board, so that rtl: addresses work" ON)
option(DATUM_FUZZERS "Build fuzzers instead of tests, everything with the coverage that libFuzzer follows; needs clang" OFF)
option(DATUM_PRECOMPILED_HEADERS "Compile what most sources include once: half the time for a whole build" OFF)

option(DATUM_UNITY_BUILD "Compile the sources of a target together, sixteen at a time: half the time for a whole build" OFF)

set(DATUM_DEBUG_INFO full CACHE STRING "What debuggers learn of a development build: full, or lines and functions alone, a quarter of the time less")
set_property(CACHE DATUM_DEBUG_INFO PROPERTY STRINGS full lines)

# Folders to build. The order is that of dependence: a folder may link targets of those before it.
set(DATUM_FOLDERS include vfio_user rtl_model sim vfio_backend driver cosim tools tests)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()

# Verilated code is generated, large, and not ours to instrument: sanitized builds run on model: alone.
if(DATUM_SANITIZE AND DATUM_WITH_RTL)
  set(DATUM_WITH_RTL OFF CACHE BOOL "Build the Verilated board, so that rtl: addresses work" FORCE)
  message(STATUS "DATUM_SANITIZE is set: the RTL board is not built, only model: is available")
endif()

# Everything that runs lies in bin/, everything that is loaded in lib/, so that scripts and tests need no map.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/archive")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(DATUM_CCACHE ccache)
if(DATUM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this permission ccache keeps nothing that was compiled with a precompiled header.
  set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros "${DATUM_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()
