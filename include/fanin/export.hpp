// Compiler conditions that every other file relies on, in one place.
#pragma once

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "fanin's error bounds and its exact sum are void under -ffast-math and its parts; compile without them"
#endif

/// FANIN_HOST_DEVICE marks functions that run on the host and, under nvcc, on the device too. FANIN_ROLLED keeps a
/// loop a loop there: unrolled, those over all limbs take minutes to compile.
#if defined(__CUDACC__)
#define FANIN_HOST_DEVICE __host__ __device__
#else
#define FANIN_HOST_DEVICE
#endif
#if defined(__CUDA_ARCH__)
#define FANIN_ROLLED _Pragma("unroll 1")
#else
#define FANIN_ROLLED
#endif
