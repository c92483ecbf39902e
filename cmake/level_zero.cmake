# Level Zero: headers of a current API and the loaders that test programs run under.
#
# Targets
#   level_zero_headers          <level_zero/ze_api.h>, <level_zero/ze_ddi_common.h>, ...: API 1.17 or newer
#   level_zero_loader_current   a loader new enough for this driver's handles (DATUM_HAVE_CURRENT_LOADER)
#   level_zero_loader_legacy    the system's own, older loader (DATUM_HAVE_LEGACY_LOADER)
# Function
#   datum_add_loader_program(<executable target> [LEGACY])
#
# The system's files are used where they are new enough. Elsewhere scripts/setup has unpacked packages of a newer suite into
# DATUM_LOADER_ROOT. That loader needs the C library that was unpacked beside it, so a program for it names that library's
# dynamic linker and carries an RPATH (not RUNPATH, which would not serve the loader's own dlopen of its layers).

if(DEFINED ENV{DATUM_LOADER_ROOT})
  set(datum_default_loader_root "$ENV{DATUM_LOADER_ROOT}")
elseif(DEFINED ENV{DATUM_CACHE})
  set(datum_default_loader_root "$ENV{DATUM_CACHE}/loader")
else()
  set(datum_default_loader_root "${PROJECT_SOURCE_DIR}/.cache/loader")
endif()
set(DATUM_LOADER_ROOT "${datum_default_loader_root}" CACHE PATH "Where scripts/setup unpacked a current Level Zero loader")

set(datum_minimum_api 1.17)     # the API that the driver implements
set(datum_minimum_loader 1.21)  # the first loader that takes the driver's handles as they are

# ZE_API_VERSION_CURRENT of a header folder as "major.minor"; empty where there is none.
function(datum_read_api_version include_folder result)
  set(${result} "" PARENT_SCOPE)
  if(EXISTS "${include_folder}/level_zero/ze_api.h")
    file(STRINGS "${include_folder}/level_zero/ze_api.h" line LIMIT_COUNT 1 REGEX "ZE_API_VERSION_CURRENT *= *ZE_MAKE_VERSION")
    if(line MATCHES "ZE_MAKE_VERSION\\( *([0-9]+) *, *([0-9]+) *\\)")
      set(${result} "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# The release of a libze_loader.so.1, read from the name of the file it links to; empty where there is none.
function(datum_read_loader_version library result)
  set(${result} "" PARENT_SCOPE)
  if(library AND EXISTS "${library}")
    file(REAL_PATH "${library}" real)
    if(real MATCHES "libze_loader\\.so\\.([0-9.]+)$")
      set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# --- what there is -----------------------------------------------------------------------------------------------------

find_path(DATUM_SYSTEM_LEVEL_ZERO_INCLUDE level_zero/ze_api.h PATHS /usr/include /usr/local/include NO_DEFAULT_PATH)
find_library(DATUM_SYSTEM_LOADER NAMES libze_loader.so.1)
datum_read_api_version("${DATUM_SYSTEM_LEVEL_ZERO_INCLUDE}" datum_system_api)
datum_read_loader_version("${DATUM_SYSTEM_LOADER}" datum_system_loader_version)

file(GLOB datum_cached_loader LIST_DIRECTORIES false "${DATUM_LOADER_ROOT}/usr/lib/*/libze_loader.so.1")
file(GLOB datum_cached_linker "${DATUM_LOADER_ROOT}/usr/lib/*/ld-linux-*.so.*" "${DATUM_LOADER_ROOT}/usr/lib/ld-linux-*.so.*")
datum_read_api_version("${DATUM_LOADER_ROOT}/usr/include" datum_cached_api)
datum_read_loader_version("${datum_cached_loader}" datum_cached_loader_version)

# --- headers -----------------------------------------------------------------------------------------------------------

add_library(level_zero_headers INTERFACE)
if(datum_cached_api VERSION_GREATER_EQUAL datum_minimum_api)
  target_include_directories(level_zero_headers SYSTEM INTERFACE "${DATUM_LOADER_ROOT}/usr/include")
  message(STATUS "Level Zero headers: API ${datum_cached_api} in ${DATUM_LOADER_ROOT}")
elseif(datum_system_api VERSION_GREATER_EQUAL datum_minimum_api)
  message(STATUS "Level Zero headers: API ${datum_system_api} of the system")
else()
  message(FATAL_ERROR "Level Zero headers of API ${datum_minimum_api} are needed (the system has: '${datum_system_api}'). "
                      "Run scripts/setup, or set DATUM_LOADER_ROOT to the folder in which it unpacked them.")
endif()

# --- loaders -----------------------------------------------------------------------------------------------------------

set(DATUM_HAVE_CURRENT_LOADER OFF)
set(DATUM_HAVE_LEGACY_LOADER OFF)

if(datum_system_loader_version VERSION_GREATER_EQUAL datum_minimum_loader)
  add_library(level_zero_loader_current SHARED IMPORTED GLOBAL)
  set_target_properties(level_zero_loader_current PROPERTIES IMPORTED_LOCATION "${DATUM_SYSTEM_LOADER}")
  set(DATUM_HAVE_CURRENT_LOADER ON)
  message(STATUS "Level Zero loader: ${datum_system_loader_version} of the system")
elseif(datum_cached_loader_version VERSION_GREATER_EQUAL datum_minimum_loader AND datum_cached_linker)
  list(GET datum_cached_linker 0 datum_cached_linker)
  cmake_path(GET datum_cached_loader PARENT_PATH datum_cached_libraries)
  add_library(level_zero_loader_current SHARED IMPORTED GLOBAL)
  set_target_properties(level_zero_loader_current PROPERTIES IMPORTED_LOCATION "${datum_cached_loader}")
  target_link_options(level_zero_loader_current INTERFACE
    "-Wl,--dynamic-linker=${datum_cached_linker}" "-Wl,-rpath,${datum_cached_libraries}" -Wl,--disable-new-dtags
    # The loader refers to symbol versions of its own C library, which the linker does not see.
    -Wl,--allow-shlib-undefined)
  set(DATUM_HAVE_CURRENT_LOADER ON)
  message(STATUS "Level Zero loader: ${datum_cached_loader_version} in ${DATUM_LOADER_ROOT}")
else()
  message(STATUS "Level Zero loader: none of ${datum_minimum_loader} or newer; programs that need one are not built")
endif()

if(datum_system_loader_version AND datum_system_loader_version VERSION_LESS datum_minimum_loader)
  add_library(level_zero_loader_legacy SHARED IMPORTED GLOBAL)
  set_target_properties(level_zero_loader_legacy PROPERTIES IMPORTED_LOCATION "${DATUM_SYSTEM_LOADER}")
  set(DATUM_HAVE_LEGACY_LOADER ON)
  message(STATUS "Level Zero legacy loader: ${datum_system_loader_version} of the system")
endif()

# Makes <target> a program that goes through the stock loader and runs as a plain executable. Without LEGACY the loader is the
# current one. Where the wanted loader is missing this is an error: ask DATUM_HAVE_CURRENT_LOADER or DATUM_HAVE_LEGACY_LOADER.
function(datum_add_loader_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LEGACY" "" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "datum_add_loader_program(${target}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(loader level_zero_loader_current)
  if(arg_LEGACY)
    set(loader level_zero_loader_legacy)
  endif()
  if(NOT TARGET ${loader})
    message(FATAL_ERROR "datum_add_loader_program(${target}): there is no ${loader} on this machine; see scripts/setup")
  endif()
  target_link_libraries(${target} PRIVATE level_zero_headers ${loader})
endfunction()
