# A board of one's own RTL, for the addresses rtl:design=... (docs/bring-up.md). Part of find_package(Datum).
#
#   datum_add_board(<name> TOP <module> SOURCES <file>... [OPTIONS <option=value>...] [VENDOR_ID <id>] [DEVICE_ID <id>]
#                   [INSTRUMENTED] [WAIVERS <file.vlt>...] [ARGUMENTS <Verilator argument>...] [OPTIMIZE <compiler flag>...])
#
# makes the library libdatum_board_<name>.so, as target <name>. TOP is a module with the ports of section 7 of the board contract;
# SOURCES are given to Verilator in this order, packages first (Datum_RTL_SOURCES is Datum's own RTL, Datum_RTL_WAIVERS what lint
# says of it). OPTIONS are what the board's addresses start from: memory, aperture and window must agree with what the registers of the
# RTL say. INSTRUMENTED builds a second model, with assertions and waveforms, for the options instrumented, wave and coverage.
# OPTIMIZE (-O3) is for what runs in every cycle.

function(datum_add_board name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INSTRUMENTED" "TOP;VENDOR_ID;DEVICE_ID" "SOURCES;OPTIONS;WAIVERS;ARGUMENTS;OPTIMIZE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "datum_add_board(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT name MATCHES "^[A-Za-z][A-Za-z0-9_]*$" OR NOT arg_TOP OR NOT arg_SOURCES)
    message(FATAL_ERROR "datum_add_board(${name}): it needs a name of letters, digits and _, TOP and SOURCES")
  endif()
  foreach(id IN ITEMS VENDOR_ID:0x1234 DEVICE_ID:0xda70)
    string(REPLACE ":" ";" id "${id}")
    list(GET id 0 which)
    list(GET id 1 default)
    if(NOT DEFINED arg_${which})
      set(arg_${which} ${default})
    endif()
  endforeach()
  if(NOT arg_OPTIMIZE)
    set(arg_OPTIMIZE -O3)
  endif()
  foreach(list IN ITEMS SOURCES WAIVERS)
    set(files "")
    foreach(file IN LISTS arg_${list})
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
      list(APPEND files "${file}")
    endforeach()
    set(arg_${list} ${files})
  endforeach()

  # Of everything that is compiled in here.
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
  include("${Datum_DESIGN_FOLDER}/rtl_model/verilated_model.cmake")
  include("${Datum_DESIGN_FOLDER}/rtl_model/board_sources.cmake")

  string(REPLACE ";" "," options "${arg_OPTIONS}")
  add_library(${name} MODULE "${Datum_DESIGN_FOLDER}/sim/rtl/design_entry.cpp" "${Datum_DESIGN_FOLDER}/sim/rtl/recording.cpp")
  target_include_directories(${name} PRIVATE "${Datum_DESIGN_FOLDER}")
  target_link_libraries(${name} PRIVATE Datum::headers)
  target_compile_definitions(${name} PRIVATE DATUM_DESIGN_NAME="${name}" DATUM_DESIGN_OPTIONS="${options}"
    DATUM_DESIGN_VENDOR=${arg_VENDOR_ID} DATUM_DESIGN_DEVICE=${arg_DEVICE_ID})
  set(models fast)
  if(arg_INSTRUMENTED)
    list(APPEND models instrumented)
  endif()
  foreach(model IN LISTS models)
    datum_add_verilated_model(${name}_${model} TOP ${arg_TOP} PREFIX V${name}_${model} FAST_FILES 2
      SOURCES ${arg_SOURCES} WAIVERS ${arg_WAIVERS} ARGUMENTS ${datum_${model}_arguments} ${arg_ARGUMENTS} OPTIMIZE ${arg_OPTIMIZE})
    target_link_libraries(${name} PRIVATE ${name}_${model})
    string(TOUPPER ${model} kind)
    target_compile_definitions(${name} PRIVATE DATUM_DESIGN_${kind}=V${name}_${model} DATUM_DESIGN_${kind}_HEADER="V${name}_${model}.h")
  endforeach()
  set_target_properties(${name} PROPERTIES OUTPUT_NAME datum_board_${name}
    LINK_DEPENDS "${Datum_DESIGN_FOLDER}/sim/rtl/design_entry.map")
  # Several libraries with Verilated code are in one process, and none may take the other's.
  target_link_options(${name} PRIVATE "-Wl,--version-script=${Datum_DESIGN_FOLDER}/sim/rtl/design_entry.map" -Wl,-z,defs)
endfunction()
