# Verilated models as static libraries.
#
#   datum_add_verilated_model(<target> TOP <module> PREFIX <class> SOURCES <file>... [ARGUMENTS <Verilator argument>...]
#                             [WAIVERS <file.vlt>...] [FAST_FILES <n>] [OPTIMIZE <compiler flag>...])
#
# Verilator runs as a build step (verilate.py says how), so it runs again when a source changes, and an error in the RTL is a
# build error. FAST_FILES: how many files share what runs in every cycle, for parallel compilation. Users include <class>.h.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(DATUM_VERILATOR verilator REQUIRED)

execute_process(COMMAND "${DATUM_VERILATOR}" --getenv VERILATOR_ROOT OUTPUT_VARIABLE datum_verilator_root OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

if(NOT TARGET datum_verilated_runtime)
  # Flags of all Verilated code: generated, so nobody needs its warnings; and debug information would double the time to compile it.
  add_library(datum_verilated_flags INTERFACE)
  target_compile_options(datum_verilated_flags INTERFACE -w -g0 $<$<CXX_COMPILER_ID:Clang>:-fbracket-depth=4096> $<$<CXX_COMPILER_ID:Clang>:-Qunused-arguments>)

  # The library of Verilator, once for all models: with waveforms and coverage, which a model uses or not.
  add_library(datum_verilated_runtime STATIC
    "${datum_verilator_root}/include/verilated.cpp"
    "${datum_verilator_root}/include/verilated_cov.cpp"
    "${datum_verilator_root}/include/verilated_fst_c.cpp"
    "${datum_verilator_root}/include/verilated_threads.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/verilated_runtime/verilated_failure.cpp")
  target_include_directories(datum_verilated_runtime SYSTEM PUBLIC "${datum_verilator_root}/include" "${datum_verilator_root}/include/vltstd")
  target_compile_definitions(datum_verilated_runtime PUBLIC VM_COVERAGE=1 VM_SC=0 VM_TRACE=1 VM_TRACE_FST=1 VM_TRACE_VCD=0)
  target_compile_options(datum_verilated_runtime PRIVATE -O2)
  # A failed assertion is thrown, with what the model printed: a library must neither end the process nor print.
  target_compile_definitions(datum_verilated_runtime PRIVATE VL_USER_STOP VL_USER_FATAL VL_USER_FINISH)
  target_compile_options(datum_verilated_runtime PRIVATE -include "${CMAKE_CURRENT_LIST_DIR}/verilated_runtime/verilated_print.h")
  target_include_directories(datum_verilated_runtime PRIVATE "${CMAKE_CURRENT_LIST_DIR}/..")
  target_link_libraries(datum_verilated_runtime PUBLIC Threads::Threads ZLIB::ZLIB PRIVATE datum_verilated_flags)
endif()

function(datum_add_verilated_model target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TOP;PREFIX;FAST_FILES" "SOURCES;ARGUMENTS;WAIVERS;OPTIMIZE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "datum_add_verilated_model(${target}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_FAST_FILES)
    set(arg_FAST_FILES 1)
  endif()
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/verilate.py")
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/${target}.verilated")
  set(slow "${directory}/${arg_PREFIX}_slow.cpp")
  set(fast "")
  math(EXPR last "${arg_FAST_FILES} - 1")
  foreach(index RANGE ${last})
    list(APPEND fast "${directory}/${arg_PREFIX}_fast_${index}.cpp")
  endforeach()
  add_custom_command(OUTPUT "${slow}" ${fast}
    COMMAND "${Python3_EXECUTABLE}" -B "${script}" --verilator "${DATUM_VERILATOR}" --prefix "${arg_PREFIX}"
            --root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." --directory "${directory}" --fast-files ${arg_FAST_FILES}
            -- --top-module "${arg_TOP}" ${arg_ARGUMENTS} ${arg_WAIVERS} ${arg_SOURCES}
    DEPENDS ${arg_SOURCES} ${arg_WAIVERS} "${script}" "${DATUM_VERILATOR}"
    COMMENT "Verilating ${arg_TOP} as ${arg_PREFIX}" VERBATIM)
  add_library(${target} STATIC "${slow}" ${fast})
  target_include_directories(${target} SYSTEM PUBLIC "${directory}")
  set_source_files_properties(${fast} PROPERTIES COMPILE_OPTIONS "${arg_OPTIMIZE}")
  set_source_files_properties("${slow}" PROPERTIES COMPILE_OPTIONS "-O0")
  target_link_libraries(${target} PUBLIC datum_verilated_runtime PRIVATE datum_verilated_flags)
endfunction()
