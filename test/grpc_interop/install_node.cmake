# Installs the packages of the node server: cmake -DFROM=<folder of package.json> -DTO=<folder> -P
#
# With what the registry has, and only when the lock file is another than that of the last time. A
# machine without npm or without a network is told so, in a line with "skipped: ", and that is no
# failure, unless WEFT_REQUIRE_PEERS=1 is in the environment.

# Ends the script, as a failure where the peers are required.
macro(give_up sentence)
  if("$ENV{WEFT_REQUIRE_PEERS}" STREQUAL "1")
    message(FATAL_ERROR "${sentence}")
  endif()
  message("skipped: ${sentence}")
  return()
endmacro()

set(stamp "${TO}/installed")
file(SHA256 "${FROM}/package-lock.json" lock)
if(EXISTS "${stamp}")
  file(READ "${stamp}" installed)
  if(installed STREQUAL lock)
    message("the packages are there")
    return()
  endif()
endif()

find_program(NODE NAMES node NO_CACHE)
find_program(NPM NAMES npm NO_CACHE)
if(NOT NODE OR NOT NPM)
  give_up("node and npm are not both installed; cmake/install_packages.sh does that")
endif()

file(MAKE_DIRECTORY "${TO}")
file(REMOVE "${stamp}")
file(COPY "${FROM}/package.json" "${FROM}/package-lock.json" DESTINATION "${TO}")
execute_process(
  COMMAND "${NPM}" ci --no-audit --no-fund --ignore-scripts --prefer-offline --loglevel=error
  WORKING_DIRECTORY "${TO}"
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message("${said}")
  set(advice "try it by hand (cd ${TO} && npm ci), then run the tests again")
  if(said MATCHES "ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED")
    give_up("npm cannot reach its registry; ${advice}")
  endif()
  message(FATAL_ERROR "npm could not install the packages of the node server; ${advice}")
endif()
file(WRITE "${stamp}" "${lock}")
message("the packages are installed")
