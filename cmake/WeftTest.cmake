# Rules for tests. test/<folder>/*.cc becomes the program weft_<folder>_test, and each of its test cases one entry of
# ctest, named "<folder>.<test case>" and labelled with the folder.

find_package(Catch2 CONFIG REQUIRED)
# Version 2 keeps Catch.cmake beside its configuration, version 3 below its sources when it is part of the build.
list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}" "${Catch2_SOURCE_DIR}/extras")
include(Catch)

# What every test compiles with. It has to be the same for all of them: they share one precompiled header.
add_library(weft_test_options INTERFACE)
target_include_directories(weft_test_options INTERFACE "${PROJECT_SOURCE_DIR}/test")
target_link_libraries(weft_test_options INTERFACE weft_internal Catch2::Catch2)
target_compile_definitions(weft_test_options INTERFACE
  WEFT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  WEFT_TEST_BINARY_DIR="${PROJECT_BINARY_DIR}/test")
target_compile_options(weft_test_options INTERFACE ${WEFT_PRECOMPILE_OPTIONS})
if(PROJECT_IS_TOP_LEVEL)
  # Tests are compiled more often than they run, and what they wait for is the library, which is optimised: with the
  # sanitizers they take a third of the time to compile.
  target_compile_options(weft_test_options INTERFACE $<$<CONFIG:RelWithDebInfo>:-O0>)
endif()

file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/test/pch.cc" CONTENT "// Only here to have the header precompiled.\n")
add_library(weft_test_pch OBJECT "${PROJECT_BINARY_DIR}/test/pch.cc")
set_target_properties(weft_test_pch PROPERTIES CXX_EXTENSIONS OFF)
target_link_libraries(weft_test_pch PRIVATE weft_test_options)
target_precompile_headers(weft_test_pch PRIVATE
  "${PROJECT_SOURCE_DIR}/test/support/catch.h"
  ${WEFT_PRECOMPILED_HEADERS})

add_library(weft_test_main STATIC "${PROJECT_SOURCE_DIR}/test/support/catch_main.cc")
set_target_properties(weft_test_main PROPERTIES CXX_EXTENSIONS OFF)
target_link_libraries(weft_test_main PUBLIC weft_test_options)

# weft_add_test_folder(<folder> [SOURCES <file>...] [LIBRARIES <target>...])
#
# The rule for test/<folder>. A folder with a CMakeLists.txt of its own calls it from there, with more sources than
# test/<folder>/*.cc and more libraries if it needs them.
function(weft_add_test_folder folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/${folder}/*.cc")
  set(name weft_${folder}_test)
  add_executable(${name} ${sources} ${arg_SOURCES})
  if(arg_SOURCES)  # Simulations: these are what runs for long.
    set_source_files_properties(${arg_SOURCES} PROPERTIES
      COMPILE_OPTIONS $<$<CONFIG:RelWithDebInfo>:-O1> SKIP_PRECOMPILE_HEADERS ON)
  endif()
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE weft_test_main weft_test_support weft_test_options ${arg_LIBRARIES})
  target_precompile_headers(${name} REUSE_FROM weft_test_pch)

  set(timeout 120)
  set(serial)
  if(folder STREQUAL "peers")  # Real server processes: they take time, and two at once disturb each other.
    set(timeout 600)
    set(serial RUN_SERIAL TRUE)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")  # Ten times slower is usual.
    math(EXPR timeout "${timeout} * 3")
  endif()
  # Version 2 calls it a success when no test case has the name asked for.
  set(extra_args)
  if(Catch2_VERSION VERSION_LESS 3)
    set(extra_args EXTRA_ARGS --warn NoTests)
  endif()
  # Catch 2 of Debian 12 does not know DISCOVERY_MODE, passes it over and discovers after the build.
  catch_discover_tests(${name}
    DISCOVERY_MODE PRE_TEST
    TEST_PREFIX "${folder}."
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/test"
    ${extra_args}
    PROPERTIES LABELS ${folder} TIMEOUT ${timeout} ${serial})
endfunction()
