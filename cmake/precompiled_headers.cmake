# Precompiled headers of the standard library, fmt, Level Zero and GoogleTest: two thirds of the time of most sources go into those.
#
# Off unless asked for, since a source that misses an #include compiles with them; scripts/check_self_contained finds it.

set(datum_headers_of_code
  <algorithm> <array> <atomic> <bit> <cerrno> <charconv> <chrono> <condition_variable> <cstdint> <cstdio> <cstdlib> <cstring>
  <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <utility> <variant> <vector>
  <fmt/format.h> <level_zero/ze_api.h>)
set(datum_headers_of_tests <filesystem> <fstream> <random> <gtest/gtest.h>)

# Targets of the current folder and of those below it, but for generated code.
function(datum_list_compiled_targets result folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  set(found "")
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(type MATCHES "^(STATIC|SHARED|MODULE|OBJECT)_LIBRARY$|^EXECUTABLE$" AND libraries MATCHES "datum_(warnings|test_)")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS below)
    datum_list_compiled_targets(more "${each}")
    list(APPEND found ${more})
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# A compiler takes a precompiled header only under the flags that it was made with. So programs are compiled as libraries are (-fPIC),
# and one header serves both.
if(DATUM_PRECOMPILED_HEADERS)
  set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})
endif()

# One header for those with the macros that GoogleTest's package defines, and one for those without.
function(datum_precompile_headers_for target name)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  set(provider "datum_precompiled_${name}")
  set(linked datum_base level_zero_headers datum_warnings)
  set(headers ${datum_headers_of_code})
  if(libraries MATCHES "GTest::|datum_test_")
    string(APPEND provider "_gtest")
    list(APPEND linked GTest::gtest)
    list(APPEND headers ${datum_headers_of_tests})
  endif()
  if(NOT TARGET ${provider})
    set(source "${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "// The precompiled header is all there is.\n")
    add_library(${provider} OBJECT "${source}")
    target_link_libraries(${provider} PRIVATE ${linked})
    target_precompile_headers(${provider} PRIVATE ${headers})
    target_compile_options(${provider} PRIVATE
      # ccache compares contents, and a time inside would be a difference.
      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
  target_precompile_headers(${target} REUSE_FROM ${provider})
endfunction()

# All targets of the current folder and below that have none yet. <name> tells this folder's headers from others.
function(datum_precompile_headers name)
  if(NOT DATUM_PRECOMPILED_HEADERS)
    return()
  endif()
  datum_list_compiled_targets(targets "${CMAKE_CURRENT_SOURCE_DIR}")
  foreach(target IN LISTS targets)
    get_target_property(reused ${target} PRECOMPILE_HEADERS_REUSE_FROM)
    get_target_property(own ${target} PRECOMPILE_HEADERS)
    if(NOT reused AND NOT own)
      datum_precompile_headers_for(${target} ${name})
    endif()
  endforeach()
endfunction()
