# What holds for every file compiled here. Warnings and sanitizers are the presets' business.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# The error bounds count every rounding; a contracted a * b + c has one less than was proved.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Every SIMD kernel is compiled once for each of Highway's instruction sets; SSSE3 and AVX3_DL bring nothing here. The
# fallback is EMU128 with g++ before 12.3 too: what that compiler gets wrong, high halves of products (its bug 106322),
# is not used here.
add_compile_definitions("HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL)" HWY_BROKEN_EMU128=0)
