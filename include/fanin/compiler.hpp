// SPDX-License-Identifier: Apache-2.0
// Macros for what depends on the compiler or on its flags.
#pragma once

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "fanin's error bounds and its exact sum are void under -ffast-math and its parts; compile without them"
#endif
#if defined(__NO_SIGNED_ZEROS__) || (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0)
#error "fanin's results are those of IEEE arithmetic: compile with signed zeros, and for a processor with SSE2"
#endif

/// FANIN_API marks the functions and classes that a shared library exports.
#define FANIN_API __attribute__((visibility("default")))

/// FANIN_HOST_DEVICE marks functions that run on the host and, under nvcc, on the device too. FANIN_ROLLED before a
/// loop keeps nvcc from unrolling it: code with unrolled loops over all limbs takes minutes to compile.
/// FANIN_PARTLY_ROLLED keeps nvcc from unrolling a loop completely.
/// FANIN_NOINLINE keeps the code of a long function from being repeated where it is called.
/// FANIN_HOST_NOINLINE does so on the host alone.
/// FANIN_HOST_ONLY(statement) is the statement on the host; on a device, where nothing can be thrown, it is nothing.
#if defined(__CUDACC__)
#define FANIN_HOST_DEVICE __host__ __device__
#else
#define FANIN_HOST_DEVICE
#endif
#define FANIN_NOINLINE __attribute__((noinline))
#if defined(__CUDA_ARCH__)
#define FANIN_ROLLED _Pragma("unroll 1")
#define FANIN_PARTLY_ROLLED _Pragma("unroll 8")
#define FANIN_HOST_NOINLINE
#define FANIN_HOST_ONLY(statement)
#else
#define FANIN_ROLLED
#define FANIN_PARTLY_ROLLED
#define FANIN_HOST_NOINLINE FANIN_NOINLINE
#define FANIN_HOST_ONLY(statement) statement
#endif

/// FANIN_ROUND_PRODUCT sets the variable `product` to the rounded x * y in a way that no compiler flag lets become
/// part of a fused multiply-add. Devices have an intrinsic for it; elsewhere an empty assembly statement hides from
/// the compiler that `product` is a product.
#if defined(__CUDA_ARCH__)
#define FANIN_ROUND_PRODUCT(product, x, y) product = sizeof(x) == 4 ? __fmul_rn(x, y) : __dmul_rn(x, y)
#elif defined(__SSE2__)
#define FANIN_ROUND_PRODUCT(product, x, y) __asm__("" : "+x"(product = x * y))
#elif defined(__aarch64__)
#define FANIN_ROUND_PRODUCT(product, x, y) __asm__("" : "+w"(product = x * y))
#else
#define FANIN_ROUND_PRODUCT(product, x, y) __asm__("" : "+m"(product = x * y))
#endif
