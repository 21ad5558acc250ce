# Precompiled headers for work on Weft itself: most of the time to compile a file goes to the headers of the standard
# library and Abseil. A build without them (the preset release) finds an include that is missing.

option(WEFT_PRECOMPILE "Compile Weft's own code with precompiled headers" OFF)

set(WEFT_PRECOMPILED_HEADERS
  <absl/functional/any_invocable.h>
  <absl/status/status.h>
  <absl/status/statusor.h>
  <absl/strings/str_cat.h>
  <absl/time/time.h>
  <algorithm>
  <array>
  <atomic>
  <chrono>
  <cmath>
  <cstddef>
  <cstdint>
  <functional>
  <map>
  <memory>
  <mutex>
  <optional>
  <span>
  <string>
  <string_view>
  <thread>
  <unordered_map>
  <utility>
  <variant>
  <vector>)

# What lets ccache follow a precompiled header.
set(WEFT_PRECOMPILE_OPTIONS)
if(WEFT_CCACHE)
  set(WEFT_PRECOMPILE_OPTIONS
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# weft_precompile(<target>)
function(weft_precompile target)
  if(WEFT_PRECOMPILE)
    target_compile_options(${target} PRIVATE ${WEFT_PRECOMPILE_OPTIONS})
    target_precompile_headers(${target} PRIVATE ${WEFT_PRECOMPILED_HEADERS})
  endif()
endfunction()
