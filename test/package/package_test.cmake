# One step of the package test: cmake -D STEP=<step> ... -P package_test.cmake

set(prefix "${WORK_DIR}/prefix")
set(work "${WORK_DIR}/${STEP}")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

# run([EXPECT_FAILURE] <command>...): runs it, shows what it says if it ends otherwise than expected, and leaves what it
# said in `said`.
function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg EXPECT_FAILURE "" "")
  execute_process(COMMAND ${arg_UNPARSED_ARGUMENTS}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(arg_EXPECT_FAILURE AND result EQUAL 0)
    message(FATAL_ERROR "Should have failed: ${arg_UNPARSED_ARGUMENTS}\n${output}")
  elseif(NOT arg_EXPECT_FAILURE AND NOT result EQUAL 0)
    message(FATAL_ERROR "Failed (${result}): ${arg_UNPARSED_ARGUMENTS}\n${output}")
  endif()
  set(said "${output}" PARENT_SCOPE)
endfunction()

function(expect_text pattern)
  # CMake breaks its error messages into lines of its own.
  string(REGEX REPLACE "[ \n]+" " " text "${said}")
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "\"${pattern}\" is not in:\n${said}")
  endif()
endfunction()

# By the environment, as a list does not pass through a command line.
set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${LAUNCHER}")
set(configure_arguments
  -G Ninja
  "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
set(configure_consumer "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${work}"
  ${configure_arguments} "-DCMAKE_PREFIX_PATH=${prefix}")
set(configure_grpc_consumer "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/consumer_grpc" -B "${work}"
  ${configure_arguments} "-DCMAKE_PREFIX_PATH=${prefix}")

# compile_with_pkg_config(<package> <folder of main.cc>): into the program `consumer`.
function(compile_with_pkg_config package folder)
  file(GLOB_RECURSE pc "${prefix}/*/weft.pc")
  cmake_path(GET pc PARENT_PATH pc_dir)
  set(ENV{PKG_CONFIG_PATH} "${pc_dir}:$ENV{PKG_CONFIG_PATH}")
  execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs --static ${package}
    OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  separate_arguments(own_flags UNIX_COMMAND "${CXX_FLAGS}")
  run("${CXX}" -std=c++20 ${own_flags} "${CMAKE_CURRENT_LIST_DIR}/${folder}/main.cc" ${flags}
    -o "${work}/consumer")
endfunction()
separate_arguments(COMPONENTS)

if(STEP STREQUAL "install")
  file(REMOVE_RECURSE "${prefix}")
  run("${CMAKE_COMMAND}" --install "${BINARY_DIR}" --prefix "${prefix}")
  if(NOT EXISTS "${prefix}/include/weft/weft.h")
    message(FATAL_ERROR "No include/weft/weft.h in ${prefix}")
  endif()

elseif(STEP STREQUAL "find_package")
  run(${configure_consumer} -DWEFT_COMPONENTS=weft)
  run("${CMAKE_COMMAND}" --build "${work}")
  run("${work}/consumer")
  expect_text("weft works")
  run("${work}/consumer_bare")
  expect_text("weft works")

  # Protobuf is looked for only by those who ask for the component that needs it.
  file(READ "${work}/CMakeCache.txt" cache)
  if(cache MATCHES "Protobuf|ZLIB")
    message(FATAL_ERROR "The core looked for ${CMAKE_MATCH_0}")
  endif()

elseif(STEP STREQUAL "find_package_grpc")
  run(${configure_grpc_consumer})
  run("${CMAKE_COMMAND}" --build "${work}")
  run("${work}/consumer")
  expect_text("weft::grpc works")

elseif(STEP STREQUAL "grpc_without_protobuf")
  # The core is found, and the component alone is missed; whoever cannot do without it learns why.
  set(no_protobuf -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON -DCMAKE_DISABLE_FIND_PACKAGE_protobuf=ON)
  run(EXPECT_FAILURE ${configure_grpc_consumer} ${no_protobuf})
  expect_text("component grpc needs zlib and protobuf")
  file(WRITE "${work}/optional/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
    "project(optional LANGUAGES CXX)\n"
    "find_package(weft CONFIG REQUIRED COMPONENTS weft OPTIONAL_COMPONENTS grpc)\n"
    "if(NOT TARGET weft::weft OR TARGET weft::grpc OR weft_grpc_FOUND)\n"
    "  message(FATAL_ERROR \"wrong targets\")\nendif()\n")
  run("${CMAKE_COMMAND}" -S "${work}/optional" -B "${work}/optional/build" ${configure_arguments}
    "-DCMAKE_PREFIX_PATH=${prefix}" ${no_protobuf})

elseif(STEP STREQUAL "unknown_component")
  run(EXPECT_FAILURE ${configure_consumer} -DWEFT_COMPONENTS=weft$<SEMICOLON>loom)
  expect_text("has no component")

elseif(STEP STREQUAL "other_version")
  file(WRITE "${work}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
    "project(other LANGUAGES NONE)\nfind_package(weft 0.2 CONFIG REQUIRED)\n")
  run(EXPECT_FAILURE "${CMAKE_COMMAND}" -S "${work}" -B "${work}/build" -G Ninja
    "-DCMAKE_PREFIX_PATH=${prefix}")
  expect_text("compatible with requested version")

elseif(STEP STREQUAL "pkg_config")
  compile_with_pkg_config(weft consumer)
  run("${work}/consumer")
  expect_text("weft works")

elseif(STEP STREQUAL "pkg_config_grpc")
  compile_with_pkg_config(weft-grpc consumer_grpc)
  run("${work}/consumer")
  expect_text("weft::grpc works")

elseif(STEP STREQUAL "deb")
  find_program(dpkg_deb NAMES dpkg-deb)
  if(NOT dpkg_deb)
    message("No dpkg-deb here: nothing to test")
    return()
  endif()
  run("${CPACK}" -G DEB --config "${BINARY_DIR}/CPackConfig.cmake" -B "${work}")
  file(GLOB deb "${work}/*.deb")
  run("${dpkg_deb}" --info "${deb}")
  expect_text("Package: libweft-dev")
  run("${dpkg_deb}" --contents "${deb}")
  expect_text("/usr/include/weft/weft.h")
  expect_text("/libweft.a")
  expect_text("/weftConfig.cmake")
  expect_text("/weft.pc")
  foreach(component IN LISTS COMPONENTS)
    string(REPLACE "_" "-" pc "weft-${component}")
    expect_text("/libweft_${component}.a")
    expect_text("/weft_${component}Config.cmake")
    expect_text("/${pc}.pc")
  endforeach()

elseif(STEP STREQUAL "add_subdirectory")
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/subdirectory" -B "${work}"
    ${configure_arguments} "-DWEFT_SOURCE_DIR=${SOURCE_DIR}")
  expect_text("-- weft begins -- weft ends")
  file(READ "${work}/compile_commands.json" commands)
  if(commands MATCHES " -W(all|extra|shadow|error)")
    message(FATAL_ERROR "A consumer would build with${CMAKE_MATCH_0}")
  endif()

else()
  message(FATAL_ERROR "No such step: ${STEP}")
endif()
