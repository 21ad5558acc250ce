# weft_test_support: what tests and fuzzers share, from test/support.

file(GLOB weft_support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/support/*.cc")
list(FILTER weft_support_sources EXCLUDE REGEX "/catch_main\\.cc$")
if(weft_support_sources)
  add_library(weft_test_support STATIC ${weft_support_sources})
  set_target_properties(weft_test_support PROPERTIES CXX_EXTENSIONS OFF)
  set(weft_support_scope PUBLIC)
else()
  add_library(weft_test_support INTERFACE)
  set(weft_support_scope INTERFACE)
endif()
target_include_directories(weft_test_support ${weft_support_scope} "${PROJECT_SOURCE_DIR}/test")
target_link_libraries(weft_test_support ${weft_support_scope} weft_internal)
