# Language, code generation and warnings.
#
# The flags set here hold for every source, Verilated ones included. Warnings are a target of their own, datum_warnings,
# which hand-written code links and generated code does not.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# assert() stays on in the build for development; only Release drops it.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(datum_debug_flag -g)
if(DATUM_DEBUG_INFO STREQUAL "lines")
  set(datum_debug_flag -g1)
elseif(NOT DATUM_DEBUG_INFO STREQUAL "full")
  message(FATAL_ERROR "DATUM_DEBUG_INFO is '${DATUM_DEBUG_INFO}': it may be full or lines")
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 ${datum_debug_flag}")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 ${datum_debug_flag}")

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A GNU_UNIQUE symbol pins its library in the process for ever and joins statics of separately loaded libraries.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
endif()

add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
add_compile_options(-fstack-protector-strong)

if(DATUM_SANITIZE)
  # vptr: that check asks the kernel, through a pipe, whether an address can be read, and takes a process that has used up its
  # descriptors, as some tests do, for a wrong address.
  add_compile_options(-fsanitize=${DATUM_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=vptr -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DATUM_SANITIZE})
  # A report needs lines, not variables, and these builds are made to run once: a third less time to compile.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ takes the checks that it added itself for accesses of the source's.
    add_compile_options(-Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
  endif()
else()
  # The sanitizers intercept the plain functions, not the fortified ones: fortify only without them.
  add_compile_options($<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)
endif()
add_compile_definitions($<$<CONFIG:RelWithDebInfo>:_GLIBCXX_ASSERTIONS>)

if(DATUM_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "DATUM_FUZZERS needs clang, and the compiler is ${CMAKE_CXX_COMPILER_ID}: use the preset fuzz, or scripts/fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

add_library(datum_warnings INTERFACE)
target_compile_options(datum_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  # Data that is used without its lock (include/datum/base/mutex.hpp).
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>)
