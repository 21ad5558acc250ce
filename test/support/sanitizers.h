// Which sanitizer the code was compiled with, whichever compiler it was: WEFT_ASAN, WEFT_TSAN, 1 or
// 0.
#ifndef WEFT_TEST_SUPPORT_SANITIZERS_H_
#define WEFT_TEST_SUPPORT_SANITIZERS_H_

#if defined(__has_feature)  // clang
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WEFT_TSAN 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)  // GCC
#define WEFT_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_TSAN 1
#endif

#ifndef WEFT_ASAN
#define WEFT_ASAN 0
#endif
#ifndef WEFT_TSAN
#define WEFT_TSAN 0
#endif

#endif  // WEFT_TEST_SUPPORT_SANITIZERS_H_
