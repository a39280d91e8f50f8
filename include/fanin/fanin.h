/* SPDX-License-Identifier: Apache-2.0 */
/* START HERE for C. The C interface is C99, and can be called from every language that calls C. C++ has fanin.hpp.
 *
 *   float x[4] = {1, 2, 3, 4}, total;
 *   fanin_input in = FANIN_INPUT_INIT;
 *   in.x = x, in.count = 4, in.type = FANIN_F32;
 *   if (fanin_reduce(FANIN_SUM, &in, NULL, &total, NULL) != FANIN_OK) puts(fanin_last_error());
 *
 * Shared by all functions:
 *   Status: every function that can fail returns a status, and fanin_last_error() has a sentence about the failure. No
 *   exception leaves a function. No function prints or ends the process. After a failure outputs are unspecified.
 *   Structs begin with their size, which the INIT macros set. So a program that was compiled with an older header works
 *   with a newer library. Enumerators keep their values for ever, and new ones are added at the end.
 *   An operation has the values, bounds, reproducibility and scratch memory of its verb in fanin.hpp.
 *   Threads: safe to call concurrently, except for calls with the same incremental, state or context.
 *   Memory: no pointer is kept, unless a comment says so. Results must not overlap with inputs.
 */
#ifndef FANIN_FANIN_H
#define FANIN_FANIN_H

#include <stddef.h>
#include <stdint.h>

#define FANIN_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t fanin_status;
enum {
  FANIN_OK = 0,
  FANIN_INVALID_ARGUMENT = 1,    /* null data, an unknown enumerator or name, min of no elements */
  FANIN_UNSUPPORTED = 2,         /* valid arguments whose combination does not exist */
  FANIN_BACKEND_UNAVAILABLE = 3, /* the named backend cannot run on this machine */
  FANIN_OVERFLOW = 4,            /* an integer result does not fit into its type */
  FANIN_OUT_OF_MEMORY = 5,       /* the host or a device has no memory left */
  FANIN_DEVICE_ERROR = 6,        /* a call of the CUDA runtime failed */
  FANIN_INTERNAL_ERROR = 7       /* a defect of the library */
};

typedef int32_t fanin_operation;
enum {
  FANIN_SUM = 0,
  FANIN_PRODUCT = 1,
  FANIN_MIN = 2,
  FANIN_MAX = 3,
  FANIN_SUM_OF_SQUARES = 4,
  FANIN_MEAN = 5,
  FANIN_NORM2 = 6,
  FANIN_VARIANCE = 7,
  FANIN_DOT = 8,
  FANIN_SUM_OF_MAGNITUDES = 9,
  FANIN_ARGMIN = 10,
  FANIN_ARGMAX = 11,
  FANIN_MINMAX = 12,
  FANIN_MAX_MAGNITUDE = 13,
  FANIN_COUNT_NONZERO = 14,
  FANIN_ANY = 15,
  FANIN_ALL = 16,
  FANIN_STANDARD_DEVIATION = 17,
  FANIN_SAMPLE_VARIANCE = 18,
  FANIN_SAMPLE_STANDARD_DEVIATION = 19,
  FANIN_LOG_SUM_EXP = 20,
  FANIN_VDOT = 21
};

typedef int32_t fanin_type;
enum {
  FANIN_TYPE_DEFAULT = -1, /* for a result: the type that fanin_result_type() names */
  FANIN_F32 = 0,
  FANIN_F64 = 1,
  FANIN_I32 = 2,
  FANIN_I64 = 3,
  FANIN_U32 = 4,
  FANIN_U64 = 5,
  FANIN_I8 = 6,
  FANIN_U8 = 7, /* bool too */
  FANIN_I16 = 8,
  FANIN_U16 = 9,
  FANIN_F16 = 10,
  FANIN_BF16 = 11,
  FANIN_E5M2 = 12,
  FANIN_E4M3 = 13,
  FANIN_C64 = 14,
  FANIN_C128 = 15
};

typedef int32_t fanin_method;
enum {
  FANIN_METHOD_DEFAULT = -1, /* the variant's method; else FANIN_EXACT, or the strictest method that there is */
  FANIN_FAST = 0,
  FANIN_COMPENSATED = 1,
  FANIN_EXACT = 2
};

typedef int32_t fanin_memory;
enum { FANIN_HOST = 0, FANIN_DEVICE = 1 };

typedef int32_t fanin_nan_policy;
enum { FANIN_NAN_PROPAGATE = 0, FANIN_NAN_SKIP = 1 };

typedef int32_t fanin_mask_form;
enum {
  FANIN_MASK_BYTES = 0, /* a byte for each element, not 0 if the element takes part */
  FANIN_MASK_BITS = 1   /* a bit for each element, from the lowest bit of a byte on */
};

/* What a result consists of. */
typedef int32_t fanin_form;
enum {
  FANIN_NUMBER = 0,  /* T */
  FANIN_INDEXED = 1, /* struct { T value; uint64_t index; } */
  FANIN_EXTREMES = 2 /* struct { T min, max; } */
};

/* The changes for which the bits of a result stay the same. */
typedef int32_t fanin_reproducibility;
enum {
  FANIN_SAME_FOR_ANY_ORDER = 0,   /* any order, split, backend and machine */
  FANIN_SAME_FOR_FIXED_ORDER = 1, /* the same order, on any CPU backend with any number of threads */
  FANIN_SAME_RUN_TO_RUN = 2,      /* the same device, build and alignment */
  FANIN_SAME_NEVER = 3
};

typedef int32_t fanin_layout;
enum { FANIN_ARRAY = 0, FANIN_ROWS = 1, FANIN_SEGMENTS = 2, FANIN_GROUPS = 3 };

/* The elements: one array, or for FANIN_DOT and FANIN_VDOT two of the same type and length. */
typedef struct fanin_input {
  size_t struct_size;
  const void* x;  /* `count` elements, contiguous and aligned; may be null if `count` is 0 */
  const void* y;  /* the second array of operations of two inputs */
  uint64_t count; /* elements of each array */
  fanin_type type;
  fanin_memory place;  /* where x, y and the mask are; the library does not derive it from a pointer */
  const void* mask;    /* null: all elements take part */
  uint64_t mask_first; /* the byte or the bit of the mask that belongs to the first element */
  fanin_mask_form mask_form;
} fanin_input;
#define FANIN_INPUT_INIT {sizeof(fanin_input), NULL, NULL, 0, FANIN_F64, FANIN_HOST, NULL, 0, FANIN_MASK_BYTES}

/* The caller's choices; a null pointer in their place stands for FANIN_OPTIONS_INIT. fanin/request.hpp describes each
 * under the same name. */
typedef struct fanin_options {
  size_t struct_size;
  const char* backend; /* "cuda", "auto", "tbb,serial"; null: FANIN_BACKEND of the environment, else "auto" */
  const char* variant; /* null: the backend's default variant of the method */
  fanin_method method;
  fanin_type result_type;
  uint32_t threads; /* 0: as many as the process has cores */
  fanin_nan_policy nan;
  const int32_t* devices; /* device_count numbers of GPUs among which host data is divided; a plan keeps the pointer */
  size_t device_count;    /* 0: the calling thread's current device, where a GPU is chosen */
  int32_t bound;          /* not 0: computes error_bound of the report from the input, by one more read of it */
} fanin_options;
#define FANIN_OPTIONS_INIT \
  {sizeof(fanin_options), NULL, NULL, FANIN_METHOD_DEFAULT, FANIN_TYPE_DEFAULT, 0, FANIN_NAN_PROPAGATE, NULL, 0, 0}

/* The facts about a result: |value - exact| <= bound_of_result |exact| + bound_of_magnitudes M + bound_absolute, where
 * M is the sum of the magnitudes (fanin/error_bound.hpp has M of each operation and what must not overflow). */
typedef struct fanin_report {
  size_t struct_size;
  char backend[32], variant[32]; /* what computed the value */
  fanin_method method;
  fanin_reproducibility reproducibility;
  double bound_of_result, bound_of_magnitudes, bound_absolute;
  uint64_t absent;      /* elements, or pairs, that did not take part: NaN or by the mask */
  const char* fallback; /* the backends that were passed over, as "cuda: no_driver; tbb: not_compiled", or "". In memory
                         * of the calling thread, until its next call. */
  double error_bound;   /* |value - exact result| is at most this number, which is infinite where nothing is proven */
  const char* unproven; /* why error_bound is infinite, as one sentence in static memory; "" if error_bound is finite */
} fanin_report;
#define FANIN_REPORT_INIT {sizeof(fanin_report), "", "", 0, 0, 0, 0, 0, 0, "", 0, NULL}

/* How elements belong to many results; fanin/batch.hpp describes each layout. */
typedef struct fanin_batch {
  size_t struct_size;
  fanin_layout layout;
  /* FANIN_ROWS: the axes of the whole array. Rows lie along the axes `along`, in which -1 is the last axis. */
  const uint64_t* shape;  /* axis_count of them, at most 32 */
  const int64_t* strides; /* axis_count of them, in elements; null: C order */
  uint32_t axis_count;
  uint32_t along_count;
  const int32_t* along; /* along_count of them */
  /* FANIN_SEGMENTS: offsets, one more than segments. FANIN_GROUPS: a key for each element. In the memory of the input. */
  const void* index;
  uint64_t index_count;
  fanin_type index_type; /* keys: any integer type; offsets: FANIN_I32, FANIN_I64, FANIN_U32 or FANIN_U64 */
  int32_t drop_others;   /* not 0: elements whose key is not a group's number are left out, and counted as absent */
  uint64_t group_count;
  const void* if_empty; /* the result of too few elements, of the type of the results, in host memory; null: as batch.hpp says */
} fanin_batch;
#define FANIN_BATCH_INIT {sizeof(fanin_batch), FANIN_ROWS, NULL, NULL, 0, 0, NULL, NULL, 0, FANIN_I64, 0, 0, NULL}

/* The caller's memory for results, one after another. It can be device memory only if the elements are there too. */
typedef struct fanin_output {
  size_t struct_size;
  void* data;
  uint64_t count;
  fanin_memory place;
} fanin_output;
#define FANIN_OUTPUT_INIT {sizeof(fanin_output), NULL, 0, FANIN_HOST}

/* ---- The library ------------------------------------------------------------------------------------------------ */

/* "0.1.0", of the library that the program runs with. */
FANIN_API const char* fanin_version(void);
/* One sentence about the last call of this thread that failed, without a newline, at most 1023 bytes. It stays until the
 * next call fails. "" if no call has failed. */
FANIN_API const char* fanin_last_error(void);

/* The name of an enumerator, as "sum", "f32" or "fast"; null beyond the last one. Enumerators count from 0 without gaps. */
FANIN_API const char* fanin_operation_name(fanin_operation what);
FANIN_API const char* fanin_type_name(fanin_type type);
FANIN_API const char* fanin_method_name(fanin_method how);
/* The size of an element in bytes; 0 if there is no such type. */
FANIN_API size_t fanin_type_size(fanin_type type);
/* How many arrays the operation reads, 1 or 2; 0 if there is no such operation. */
FANIN_API int32_t fanin_operation_inputs(fanin_operation what);
/* 1 if the operation exists for elements of `type` with the method, else 0. */
FANIN_API int32_t fanin_has_method(fanin_operation what, fanin_type type, fanin_method how);
/* One line about the operation; null if there is none. */
FANIN_API const char* fanin_operation_story(fanin_operation what);
/* The default type of the number in a result for elements of `type`, the form of the result, and its size in bytes with
 * `result_type`, which may be FANIN_TYPE_DEFAULT. Output pointers may be null.
 * Fails with FANIN_INVALID_ARGUMENT, FANIN_UNSUPPORTED if the operation does not exist for that type */
FANIN_API fanin_status fanin_result_type(fanin_operation what, fanin_type type, fanin_type result_type,
                                         fanin_type* number, fanin_form* form, size_t* bytes);

/* The name of backend i in order of preference; null beyond the last one. */
FANIN_API const char* fanin_backend_name(uint32_t i);
/* Null if backend i can run on this machine. Otherwise one sentence that says why not. */
FANIN_API const char* fanin_backend_obstacle(uint32_t i);

/* ---- One result ------------------------------------------------------------------------------------------------- */

/* Reduces the input and writes the result to host memory. `options` and `report` may be null. Input in device memory is
 * reduced on a context of the call's own, after the work on the legacy default stream.
 * Fails with any status but FANIN_INTERNAL_ERROR, as fanin::reduce throws. */
FANIN_API fanin_status fanin_reduce(fanin_operation what, const fanin_input* input, const fanin_options* options,
                                    void* result, fanin_report* report);

/* Reduces `count` arrays as if they followed each other in one array (fanin/sharded.hpp). The inputs are all in host memory,
 * or all in device memory, and have the same type. Fails as fanin_reduce. */
FANIN_API fanin_status fanin_reduce_arrays(fanin_operation what, const fanin_input* const* inputs, size_t count,
                                           const fanin_options* options, void* result, fanin_report* report);

/* A reduction whose backend, variant and method are chosen once, for short calls. Calls of one plan may overlap. */
typedef struct fanin_plan fanin_plan;
/* `auto` chooses for inputs of `expected_count` elements; UINT64_MAX: for long ones. */
FANIN_API fanin_status fanin_plan_create(fanin_operation what, fanin_type type, fanin_memory place, fanin_layout layout,
                                         uint64_t expected_count, const fanin_options* options, fanin_plan** plan);
/* Makes a plan whose fanin_plan_reduce_batch() adds to the results like fanin_add_to(), and fails like it. */
FANIN_API fanin_status fanin_plan_create_add_to(fanin_operation what, fanin_type type, fanin_memory place,
                                                fanin_layout layout, const fanin_options* options, fanin_plan** plan);
/* The result has the result_type of the plan. */
FANIN_API fanin_status fanin_plan_reduce(const fanin_plan* plan, const fanin_input* input, void* result,
                                         fanin_report* report);
FANIN_API fanin_status fanin_plan_reduce_batch(const fanin_plan* plan, const fanin_input* input,
                                               const fanin_batch* batch, const fanin_output* output,
                                               fanin_report* report);
/* Null is allowed, here and in the other functions that destroy. */
FANIN_API void fanin_plan_destroy(fanin_plan* plan);

/* A reduction of host memory that arrives in blocks, of any number and length. */
typedef struct fanin_incremental fanin_incremental;
FANIN_API fanin_status fanin_incremental_create(fanin_operation what, fanin_type type, const fanin_options* options,
                                                fanin_incremental** incremental);
FANIN_API fanin_status fanin_incremental_push(fanin_incremental* incremental, const fanin_input* block);
/* Call it once, after the last push. */
FANIN_API fanin_status fanin_incremental_finish(fanin_incremental* incremental, void* result, fanin_report* report);
FANIN_API void fanin_incremental_destroy(fanin_incremental* incremental);

/* ---- Descriptions ----------------------------------------------------------------------------------------------- */

/* A real number. The type that is given with it names the member to read. f16, bf16, e5m2 and e4m3 are bits. */
typedef union fanin_number {
  float f32;
  double f64;
  int64_t i64;
  uint64_t u64;
  int32_t i32;
  uint32_t u32;
  int16_t i16;
  uint16_t u16, f16, bf16;
  int8_t i8;
  uint8_t u8, e5m2, e4m3;
} fanin_number;

/* The description of an array. Each number has the type and the bits of its operation's result with FANIN_EXACT. */
typedef struct fanin_description {
  size_t struct_size;
  uint64_t count, nan;      /* elements that are not NaN, and NaN; neither counts what a mask leaves out */
  fanin_type type;          /* the type of min and max */
  fanin_type sum_type;      /* the type of sum */
  fanin_type quotient_type; /* the type of mean and standard_deviation */
  fanin_number min, max, sum, mean, standard_deviation; /* the deviation is that of a population */
  int32_t sum_overflows;    /* not 0 if an integer sum does not fit into its type, and sum is 0 */
} fanin_description;
#define FANIN_DESCRIPTION_INIT {sizeof(fanin_description), 0, 0, 0, 0, 0, {0}, {0}, {0}, {0}, {0}, 0}

/* Describes host memory in one read, and device memory in four reads. `options`: backend, threads and nan. `report`
 * holds for all numbers. Fails as fanin::describe throws: FANIN_INVALID_ARGUMENT if no element takes part. If an
 * integer sum does not fit, and the program's struct is too old to have `sum_overflows`, fails with FANIN_OVERFLOW. */
FANIN_API fanin_status fanin_describe(const fanin_input* input, const fanin_options* options,
                                      fanin_description* description, fanin_report* report);

/* ---- Many results ----------------------------------------------------------------------------------------------- */

/* How many results the batch has. */
FANIN_API fanin_status fanin_batch_results(const fanin_input* input, const fanin_batch* batch, uint64_t* count);
/* A result for each row, segment or group. Fails as fanin_reduce; the sentence names the first wrong result, offset or key. */
FANIN_API fanin_status fanin_reduce_batch(fanin_operation what, const fanin_input* input, const fanin_batch* batch,
                                          const fanin_options* options, const fanin_output* output,
                                          fanin_report* report);

/* Reduces each row, segment or group by `count` operations: outputs[i] receives the results of operations[i], which have
 * the bits that fanin_reduce_batch gives. On a CPU rows and segments are read from memory once (fanin::reduce_each).
 * `result_types` has a type for each operation; null: the type of the options for all. `reports`, and any of its
 * pointers, may be null. Fails as fanin_reduce_batch does for the first operation that fails. */
FANIN_API fanin_status fanin_reduce_each(const fanin_operation* operations, const fanin_type* result_types, size_t count,
                                         const fanin_input* input, const fanin_batch* batch,
                                         const fanin_options* options, const fanin_output* const* outputs,
                                         fanin_report* const* reports);

/* Reduces each row, segment or group together with the result that is in the output already: FANIN_SUM, FANIN_PRODUCT,
 * FANIN_MIN or FANIN_MAX. If no element of a result takes part, it keeps its bits. Fails as fanin_reduce_batch. After
 * FANIN_OVERFLOW all other results have been added to, and after FANIN_OUT_OF_MEMORY perhaps some. */
FANIN_API fanin_status fanin_add_to(fanin_operation what, const fanin_input* input, const fanin_batch* batch,
                                    const fanin_options* options, const fanin_output* output, fanin_report* report);

/* ---- Device memory ---------------------------------------------------------------------------------------------- */

/* The stream and the workspace that calls on one device share: fanin::device_context (fanin/device.hpp). */
typedef struct fanin_context fanin_context;
/* `stream`: a cudaStream_t of the device, which has to outlive the context. Null: a new stream, which waits for the
 * legacy default stream. Fails with FANIN_BACKEND_UNAVAILABLE where there is no device */
FANIN_API fanin_status fanin_context_create(int32_t device, void* stream, fanin_context** context);
/* Device memory of the caller, for the workspace of a context. Released memory may be used by work that is enqueued to
 * the context's stream later. `user` is handed to both functions, which may be called while the stream is captured, and
 * have to outlive the context. allocate() returns null if no memory is left. */
typedef struct fanin_allocator {
  size_t struct_size;
  void* (*allocate)(size_t bytes, void* user);
  void (*release)(void* memory, void* user);
  void* user;
} fanin_allocator;
#define FANIN_ALLOCATOR_INIT {sizeof(fanin_allocator), 0, 0, 0}
/* Creates a context whose workspace is memory of an allocator, except for copies of host data. */
FANIN_API fanin_status fanin_context_create_with(int32_t device, void* stream, const fanin_allocator* allocator,
                                                 fanin_context** context);
FANIN_API void* fanin_context_stream(const fanin_context* context);
/* These act like fanin_describe, fanin_reduce and fanin_reduce_batch on the context's stream, and wait for results. */
FANIN_API fanin_status fanin_context_describe(fanin_context* context, const fanin_input* input,
                                              const fanin_options* options, fanin_description* description,
                                              fanin_report* report);
FANIN_API fanin_status fanin_context_reduce(fanin_context* context, fanin_operation what, const fanin_input* input,
                                            const fanin_options* options, void* result, fanin_report* report);
FANIN_API fanin_status fanin_context_reduce_batch(fanin_context* context, fanin_operation what,
                                                  const fanin_input* input, const fanin_batch* batch,
                                                  const fanin_options* options, const fanin_output* output,
                                                  fanin_report* report);
/* Adds device memory to results on the host or the device like fanin_add_to, on the context's stream, and waits. If an
 * offset or a key is wrong, nothing is added. */
FANIN_API fanin_status fanin_context_add_to(fanin_context* context, fanin_operation what, const fanin_input* input,
                                            const fanin_batch* batch, const fanin_options* options,
                                            const fanin_output* output, fanin_report* report);
/* Enqueues the reduction of device memory and returns. The call, and the creation of a context, may be captured into a
 * CUDA graph. The context, or its allocator's memory, has to outlive the graph. `result` is device memory for the
 * result and for an integer directly behind the result. The size of this integer is the alignment of the result. The
 * integer is not 0 if an integer result does not fit. */
FANIN_API fanin_status fanin_context_enqueue(fanin_context* context, fanin_operation what, const fanin_input* input,
                                             const fanin_options* options, void* result);
/* Enqueues a batch. The results have no flags: overflow and wrong offsets or keys are not reported. */
FANIN_API fanin_status fanin_context_enqueue_batch(fanin_context* context, fanin_operation what,
                                                   const fanin_input* input, const fanin_batch* batch,
                                                   const fanin_options* options, const fanin_output* output);
/* Enqueues fanin_reduce_each of device memory. Each operation reads the elements, except for those that share a read, as
 * fanin::enqueue_each() (fanin/device.hpp) says. */
FANIN_API fanin_status fanin_context_enqueue_each(fanin_context* context, const fanin_operation* operations,
                                                  const fanin_type* result_types, size_t count,
                                                  const fanin_input* input, const fanin_batch* batch,
                                                  const fanin_options* options, const fanin_output* const* outputs);
/* Enqueues fanin_context_add_to. A result that would not fit keeps its value. If an offset or a key is wrong, all results
 * keep their values. A graph adds each time that it runs. */
FANIN_API fanin_status fanin_context_enqueue_add_to(fanin_context* context, fanin_operation what,
                                                    const fanin_input* input, const fanin_batch* batch,
                                                    const fanin_options* options, const fanin_output* output);
/* Enqueues fanin::enqueue_add_rows() (fanin/device.hpp): row g of the results is the exact sum of row g of `base` and of
 * each row i of `x` whose key keys[i] is g. Rows have `columns` elements. A base of 0 elements is left out. All memory is
 * the device's, and masks are null. */
FANIN_API fanin_status fanin_context_enqueue_add_rows(fanin_context* context, const fanin_input* x,
                                                      const fanin_input* keys, size_t columns, const fanin_input* base,
                                                      const fanin_output* output);
/* Exact sums as lanes: integers in device memory that any transport can add. `what`: FANIN_SUM, FANIN_MEAN,
 * FANIN_SUM_OF_MAGNITUDES, FANIN_SUM_OF_SQUARES or FANIN_NORM2 of floating-point values. fanin_lane_count() is the number of
 * lanes, or 0 if there are none. fanin_context_enqueue_lanes() enqueues the lanes of the input's elements. Then the lanes of
 * up to 2^31 calls, on any devices and machines, are added lane by lane. fanin_context_enqueue_value_of_lanes() enqueues the
 * value, rounded once; `result` is as for fanin_context_enqueue. Both return without waiting, and may be captured.
 * fanin_state_from_lanes() also takes the lanes of sums and of squares of FANIN_F32 and FANIN_F64. */
FANIN_API size_t fanin_lane_count(fanin_operation what, fanin_type type);
FANIN_API fanin_status fanin_context_enqueue_lanes(fanin_context* context, fanin_operation what,
                                                   const fanin_input* input, const fanin_options* options,
                                                   int64_t* lanes);
/* Enqueues the lanes of all elements of `count` arrays of one type, by four launches and a short one for each 96 arrays. */
FANIN_API fanin_status fanin_context_enqueue_lanes_of_arrays(fanin_context* context, fanin_operation what,
                                                             const fanin_input* const* inputs, size_t count,
                                                             const fanin_options* options, int64_t* lanes);
FANIN_API fanin_status fanin_context_enqueue_value_of_lanes(fanin_context* context, fanin_operation what,
                                                            fanin_type type, const int64_t* lanes,
                                                            const fanin_options* options, void* result);
FANIN_API void fanin_context_destroy(fanin_context* context);

/* ---- States ----------------------------------------------------------------------------------------------------- */

/* An exact sum of elements, or of their squares, that is not rounded yet. More elements can be added later, and states of
 * other threads, processes and machines can be merged. A state depends on its elements only, not on their order. Calls
 * with a const state may overlap. fanin/state.hpp and fanin/accumulator/exact.hpp have the same for C++. */
typedef struct fanin_state fanin_state;
/* The state of no elements. `what`: FANIN_SUM or FANIN_SUM_OF_SQUARES; `type`: FANIN_F32 or FANIN_F64. */
FANIN_API fanin_status fanin_state_create(fanin_operation what, fanin_type type, fanin_state** state);
/* Adds the elements of the input. They have the state's type; a state of FANIN_F32 also takes floats of 8 or 16 bits. If
 * `context` is not null, its device adds. The only method is FANIN_EXACT. After a failure the state is as it was. */
FANIN_API fanin_status fanin_state_accumulate(fanin_state* state, const fanin_input* input, const fanin_options* options,
                                              fanin_context* context, fanin_report* report);
/* Adds everything that was added to `other`, a state of the same operation and type. */
FANIN_API fanin_status fanin_state_merge(fanin_state* state, const fanin_state* other);
/* How many elements were added; UINT64_MAX after a merge with a state that was saved without this number. */
FANIN_API uint64_t fanin_state_count(const fanin_state* state);
/* Writes the value, correctly rounded to the floating-point type `result_type` (FANIN_TYPE_DEFAULT: the state's type).
 * `what`: FANIN_SUM or FANIN_MEAN for a state of sums, FANIN_SUM_OF_SQUARES or FANIN_NORM2 for a state of squares. */
FANIN_API fanin_status fanin_state_finish(const fanin_state* state, fanin_operation what, fanin_type result_type,
                                          void* result);
/* The state as bytes that any machine can load (docs/exact-format.md). `bytes` must be fanin_state_saved_bytes(). */
FANIN_API size_t fanin_state_saved_bytes(const fanin_state* state);
FANIN_API fanin_status fanin_state_save(const fanin_state* state, void* saved, size_t bytes);
FANIN_API fanin_status fanin_state_load(const void* saved, size_t bytes, fanin_state** state);
/* The state as integers that any transport can add: the lanes of up to 2^31 states, added lane by lane in any order,
 * stand for the merged state. `lanes` is memory for fanin_state_lane_count() of them. */
FANIN_API size_t fanin_state_lane_count(const fanin_state* state);
FANIN_API fanin_status fanin_state_lanes(const fanin_state* state, int64_t* lanes);
/* Replaces the state by the state of these lanes. Fails with FANIN_INVALID_ARGUMENT if no states have such lanes */
FANIN_API fanin_status fanin_state_from_lanes(fanin_state* state, const int64_t* lanes);
FANIN_API void fanin_state_destroy(fanin_state* state);

/* An exact sum of doubles in 48 bytes, with the number of elements. It is for many sums: one for each group, column or
 * window. Begin with FANIN_COMPACT_INIT, or with zeros. A sum that needs more than 190 bits, or has a NaN or an
 * infinity, owns memory on the heap, which fanin_compact_clear() frees. A sum may be moved as bytes. Two copies of the
 * bytes would own the same memory, so make a copy by fanin_compact_merge() into an empty sum. Calls for
 * one sum must not overlap. */
typedef struct fanin_compact {
  uint64_t words[6];
} fanin_compact;
#define FANIN_COMPACT_INIT {{0, 0, 0, 0, 0, 0}}
#define FANIN_COMPACT_SAVED_BYTES 292
FANIN_API fanin_status fanin_compact_add(fanin_compact* sum, double x);
/* Adds x[0], x[stride], ..., x[(count - 1) * stride] in host memory. If `valid` is not null, element i takes part if bit
 * i % 8 of valid[i / 8] is set. */
FANIN_API fanin_status fanin_compact_add_many(fanin_compact* sum, const double* x, size_t count, ptrdiff_t stride,
                                              const uint8_t* valid);
/* Takes back x, which was added before. Fails with FANIN_INVALID_ARGUMENT if no elements are left, or if x is NaN or
 * infinite */
FANIN_API fanin_status fanin_compact_subtract(fanin_compact* sum, double x);
/* Adds everything that was added to `other`. At most 2^62 elements; more fail with FANIN_OVERFLOW */
FANIN_API fanin_status fanin_compact_merge(fanin_compact* sum, const fanin_compact* other);
FANIN_API uint64_t fanin_compact_count(const fanin_compact* sum);
/* Writes the value, correctly rounded to the floating-point type `result_type` (FANIN_TYPE_DEFAULT: FANIN_F64). `what`:
 * FANIN_SUM, or FANIN_MEAN of at least one element. */
FANIN_API fanin_status fanin_compact_finish(const fanin_compact* sum, fanin_operation what, fanin_type result_type,
                                            void* result);
/* The bytes of fanin_state_save() for the same elements. `bytes` must be FANIN_COMPACT_SAVED_BYTES. Loading replaces the
 * sum, and takes the bytes of states of sums of FANIN_F64 too. */
FANIN_API fanin_status fanin_compact_save(const fanin_compact* sum, void* saved, size_t bytes);
FANIN_API fanin_status fanin_compact_load(const void* saved, size_t bytes, fanin_compact* sum);
/* The sum of no elements. Frees what the sum owns. */
FANIN_API void fanin_compact_clear(fanin_compact* sum);

/* The exact sums of doubles and of their squares in 112 bytes, for variances of many groups, columns or windows. Begin
 * with FANIN_COMPACT_MOMENTS_INIT, or with zeros. Memory, copies, calls and failures are as for fanin_compact. A sum of
 * squares that needs more than 318 bits owns memory on the heap. */
typedef struct fanin_compact_moments {
  uint64_t words[14];
} fanin_compact_moments;
#define FANIN_COMPACT_MOMENTS_INIT {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}
#define FANIN_COMPACT_MOMENTS_SAVED_BYTES 848
FANIN_API fanin_status fanin_compact_moments_add(fanin_compact_moments* sums, double x);
FANIN_API fanin_status fanin_compact_moments_add_many(fanin_compact_moments* sums, const double* x, size_t count,
                                                      ptrdiff_t stride, const uint8_t* valid);
FANIN_API fanin_status fanin_compact_moments_subtract(fanin_compact_moments* sums, double x);
FANIN_API fanin_status fanin_compact_moments_merge(fanin_compact_moments* sums, const fanin_compact_moments* other);
FANIN_API uint64_t fanin_compact_moments_count(const fanin_compact_moments* sums);
/* Writes the value, correctly rounded to the floating-point type `result_type` (FANIN_TYPE_DEFAULT: FANIN_F64). `what`:
 * FANIN_SUM, FANIN_SUM_OF_SQUARES or FANIN_NORM2; FANIN_MEAN, FANIN_VARIANCE or FANIN_STANDARD_DEVIATION of at least one
 * element; FANIN_SAMPLE_VARIANCE or FANIN_SAMPLE_STANDARD_DEVIATION of at least two. */
FANIN_API fanin_status fanin_compact_moments_finish(const fanin_compact_moments* sums, fanin_operation what,
                                                    fanin_type result_type, void* result);
/* The bytes of a state of FANIN_SUM, and behind them those of a state of FANIN_SUM_OF_SQUARES, both of FANIN_F64. `bytes`
 * must be FANIN_COMPACT_MOMENTS_SAVED_BYTES. Loading replaces the sums. */
FANIN_API fanin_status fanin_compact_moments_save(const fanin_compact_moments* sums, void* saved, size_t bytes);
FANIN_API fanin_status fanin_compact_moments_load(const void* saved, size_t bytes, fanin_compact_moments* sums);
/* The sums of no elements. Frees what the sums own. */
FANIN_API void fanin_compact_moments_clear(fanin_compact_moments* sums);

#ifdef __cplusplus
}
#endif

#endif
