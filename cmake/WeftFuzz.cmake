# Every test/fuzz/<name>_fuzz.cc is a libFuzzer program, and a ctest entry that runs it for a few seconds. Inputs to
# start from, if any, are in test/fuzz/corpus/<name>/; what it finds stays in the build folder. Those of weft::grpc are
# named grpc_*.

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "WEFT_BUILD_FUZZERS needs clang: configure with `cmake --preset fuzz`")
endif()
set(WEFT_FUZZ_SECONDS 5 CACHE STRING "How long ctest runs each fuzzer")

if(NOT TARGET weft_test_support)
  include(WeftSupport)
endif()

# weft_add_fuzzer(<name> <source>...)
function(weft_add_fuzzer name)
  set(program weft_${name}_fuzz)
  add_executable(${program} ${ARGN})
  set_target_properties(${program} PROPERTIES
    CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test/fuzz")
  target_link_libraries(${program} PRIVATE weft_test_support weft_internal)
  if(name MATCHES "^grpc_")
    target_link_libraries(${program} PRIVATE weft_grpc_internal)
  endif()
  target_link_options(${program} PRIVATE -fsanitize=fuzzer)

  set(found "${PROJECT_BINARY_DIR}/test/fuzz/corpus/${name}")
  file(MAKE_DIRECTORY "${found}")
  set(seeds "${PROJECT_SOURCE_DIR}/test/fuzz/corpus/${name}")
  if(NOT IS_DIRECTORY "${seeds}")
    set(seeds)
  endif()
  add_test(NAME fuzz.${name}
    COMMAND ${program} -max_total_time=${WEFT_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=2048
      "-artifact_prefix=${PROJECT_BINARY_DIR}/test/fuzz/${name}-" "${found}" ${seeds})
  math(EXPR timeout "${WEFT_FUZZ_SECONDS} + 120")
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT ${timeout})
endfunction()

if(EXISTS "${PROJECT_SOURCE_DIR}/test/fuzz/CMakeLists.txt")
  add_subdirectory("${PROJECT_SOURCE_DIR}/test/fuzz" "${PROJECT_BINARY_DIR}/test/fuzz")
else()
  file(GLOB weft_fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/fuzz/*_fuzz.cc")
  foreach(source IN LISTS weft_fuzz_sources)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "_fuzz$" "" name "${name}")
    if(name MATCHES "^grpc_" AND NOT TARGET weft_grpc)
      continue()
    endif()
    weft_add_fuzzer(${name} "${source}")
  endforeach()
endif()
