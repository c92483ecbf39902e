# Four Debian packages: the driver, what simulates boards, what one builds against, and the Python module. `cpack -G DEB` in a build folder makes them.

install(FILES "${PROJECT_SOURCE_DIR}/packaging/70-datum.rules" DESTINATION lib/udev/rules.d)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL driver simulation development python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME datum)
set(CPACK_PACKAGE_VENDOR Datum)
set(CPACK_PACKAGE_CONTACT "The Datum project <datum@localhost>")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE OFF)

set(CPACK_DEBIAN_DRIVER_PACKAGE_NAME datum)
set(CPACK_DEBIAN_DRIVER_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DRIVER_PACKAGE_RECOMMENDS libze1)
set(CPACK_DEBIAN_DRIVER_PACKAGE_SUGGESTS datum-simulation)
set(CPACK_DEBIAN_DRIVER_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/postinst")
set(CPACK_COMPONENT_DRIVER_DESCRIPTION "Level Zero driver for FPGA and custom accelerators
 The driver that the oneAPI Level Zero loader loads, the command datum, and
 the udev rule for cards.")

set(CPACK_DEBIAN_SIMULATION_PACKAGE_NAME datum-simulation)
set(CPACK_DEBIAN_SIMULATION_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_SIMULATION_PACKAGE_DEPENDS "datum (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_SIMULATION_DESCRIPTION "Simulated boards for the Datum driver
 Boards in the application's process and datum-board, which serves them to
 other processes and to virtual machines; a demonstration.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME datum-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "datum (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "datum-simulation (= ${PROJECT_VERSION}), cmake, g++, python3, verilator, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers of the Datum driver's extensions, and boards of one's own
 For C and C++, with files for CMake and pkg-config; the RTL of the board, what
 builds boards on it, and the board contract as a program.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-datum)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.10), libze1, datum (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Boards of the Datum driver from Python
 Memory, copies, waiting and registers, by ctypes and without further
 dependencies; an example.")

include(CPack)
