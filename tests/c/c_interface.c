/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface on the CPU: values, reports, errors, plans and blocks. */
#include <ctype.h>
#include <math.h>

#include "check.h"

static void one_array(void) {
  const float x[4] = {1, 1e30f, 2, -1e30f};
  fanin_input in = input_of(x, 4, FANIN_F32);
  fanin_options options = FANIN_OPTIONS_INIT;
  fanin_report report = FANIN_REPORT_INIT;
  float total = 0;
  double wide = 0;
  struct {
    float value;
    uint64_t index;
  } largest;
  float both[2];

  options.method = FANIN_EXACT;
  CHECK(fanin_reduce(FANIN_SUM, &in, &options, &total, &report) == FANIN_OK);
  CHECK(total == 3);
  CHECK(report.method == FANIN_EXACT && report.reproducibility == FANIN_SAME_FOR_ANY_ORDER);
  CHECK(strcmp(report.variant, "exact") == 0 && report.backend[0] != 0 && report.absent == 0);
  CHECK(report.bound_of_result > 0 && report.bound_of_result < 1e-7 && report.bound_of_magnitudes == 0);

  options.result_type = FANIN_F64;
  CHECK(fanin_reduce(FANIN_SUM, &in, &options, &wide, NULL) == FANIN_OK && wide == 3);
  options.result_type = FANIN_TYPE_DEFAULT;

  CHECK(fanin_reduce(FANIN_ARGMAX, &in, NULL, &largest, NULL) == FANIN_OK);
  CHECK(largest.value == 1e30f && largest.index == 1);
  CHECK(fanin_reduce(FANIN_MINMAX, &in, NULL, both, NULL) == FANIN_OK && both[0] == -1e30f && both[1] == 1e30f);

  in.y = x;
  CHECK(fanin_reduce(FANIN_DOT, &in, &options, &total, NULL) == FANIN_OK && isinf(total));
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, NULL, &total, NULL), FANIN_INVALID_ARGUMENT, "y is set");
  in.y = NULL;

  {
    const unsigned char taken[4] = {1, 0, 1, 0}, bits = 0x0a; /* elements 1 and 3, less the first bit */
    in.mask = taken;
    CHECK(fanin_reduce(FANIN_SUM, &in, NULL, &total, &report) == FANIN_OK && total == 3 && report.absent == 2);
    in.mask = &bits, in.mask_form = FANIN_MASK_BITS, in.mask_first = 1;
    CHECK(fanin_reduce(FANIN_SUM, &in, NULL, &total, &report) == FANIN_OK && total == 3 && report.absent == 2);
    in.mask = NULL;
  }
  {
    const double with_nan[3] = {1, NAN, 4};
    const fanin_input nans = input_of(with_nan, 3, FANIN_F64);
    double value = 0;
    CHECK(fanin_reduce(FANIN_SUM, &nans, NULL, &value, NULL) == FANIN_OK && isnan(value));
    options.nan = FANIN_NAN_SKIP;
    CHECK(fanin_reduce(FANIN_MEAN, &nans, &options, &value, &report) == FANIN_OK && value == 2.5 &&
          report.absent == 1);
  }
  options.backend = "cub,serial";
  CHECK(fanin_reduce(FANIN_SUM, &in, &options, &total, &report) == FANIN_OK);
  CHECK(strcmp(report.backend, "serial") == 0 && strncmp(report.fallback, "cub: ", 5) == 0);
}

static void log_sum_of_integers(void) {
  static const int8_t i8[3] = {-3, 2, 3};
  static const int16_t i16[3] = {-3, 2, 3};
  static const int32_t i32[3] = {-3, 2, 3};
  static const int64_t i64[3] = {-3, 2, 3};
  static const uint8_t u8[3] = {0, 2, 3};
  static const uint16_t u16[3] = {0, 2, 3};
  static const uint32_t u32[3] = {0, 2, 3};
  static const uint64_t u64[3] = {0, 2, 3};
  static const double with_sign[3] = {-3, 2, 3}, without[3] = {0, 2, 3};
  const struct {
    const void* x;
    fanin_type type;
    const double* same;
  } all[8] = {{i8, FANIN_I8, with_sign},   {i16, FANIN_I16, with_sign}, {i32, FANIN_I32, with_sign},
              {i64, FANIN_I64, with_sign}, {u8, FANIN_U8, without},     {u16, FANIN_U16, without},
              {u32, FANIN_U32, without},   {u64, FANIN_U64, without}};
  const uint64_t shape[2] = {3, 1};
  const int32_t first[1] = {0};
  int i;
  for (i = 0; i < 8; ++i) {
    const fanin_input in = input_of(all[i].x, 3, all[i].type), doubles = input_of(all[i].same, 3, FANIN_F64);
    fanin_batch batch = FANIN_BATCH_INIT;
    fanin_output output = FANIN_OUTPUT_INIT;
    double found = 0, expected = 1, of_column = 2;
    fanin_type number = FANIN_F32;
    CHECK(fanin_result_type(FANIN_LOG_SUM_EXP, all[i].type, FANIN_TYPE_DEFAULT, &number, NULL, NULL) == FANIN_OK &&
          number == FANIN_F64);
    CHECK(fanin_reduce(FANIN_LOG_SUM_EXP, &in, NULL, &found, NULL) == FANIN_OK);
    CHECK(fanin_reduce(FANIN_LOG_SUM_EXP, &doubles, NULL, &expected, NULL) == FANIN_OK && found == expected);
    batch.shape = shape, batch.axis_count = 2, batch.along = first, batch.along_count = 1;
    output.data = &of_column, output.count = 1;
    CHECK(fanin_reduce_batch(FANIN_LOG_SUM_EXP, &in, &batch, NULL, &output, NULL) == FANIN_OK &&
          of_column == expected);
  }
}

static void errors(void) {
  const int64_t huge[2] = {INT64_MAX, 1};
  fanin_input in = input_of(huge, 2, FANIN_I64);
  fanin_input empty = input_of(NULL, 0, FANIN_F32), null = input_of(NULL, 3, FANIN_F32);
  fanin_options options = FANIN_OPTIONS_INIT;
  fanin_report unset = FANIN_REPORT_INIT;
  int64_t total;
  float value;

  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, NULL, &total, NULL), FANIN_OVERFLOW, "does not fit");
  CHECK_FAILS(fanin_reduce(FANIN_MIN, &empty, NULL, &value, NULL), FANIN_INVALID_ARGUMENT, "min");
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &null, NULL, &value, NULL), FANIN_INVALID_ARGUMENT, "null");
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, NULL, NULL, NULL), FANIN_INVALID_ARGUMENT, "the result is null");
  CHECK_FAILS(fanin_reduce(FANIN_SUM, NULL, NULL, &value, NULL), FANIN_INVALID_ARGUMENT, "the input is null");
  CHECK_FAILS(fanin_reduce(99, &in, NULL, &total, NULL), FANIN_INVALID_ARGUMENT, "no such operation: 99");
  CHECK_FAILS(fanin_reduce(FANIN_SUM + 256, &in, NULL, &total, NULL), FANIN_INVALID_ARGUMENT, "no such operation");
  CHECK_FAILS(fanin_reduce(FANIN_LOG_SUM_EXP, &in, NULL, &total, NULL), FANIN_OVERFLOW, "would be rounded");

  in.type = -1;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, NULL, &total, NULL), FANIN_INVALID_ARGUMENT, "no such element type");
  in.type = FANIN_I64, in.place = 7;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, NULL, &total, NULL), FANIN_INVALID_ARGUMENT, "kind of memory");
  in.place = FANIN_HOST, in.struct_size = 0;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, NULL, &total, NULL), FANIN_INVALID_ARGUMENT, "struct_size");
  in.struct_size = (size_t)-1;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, NULL, &total, NULL), FANIN_INVALID_ARGUMENT, "struct_size");
  in.struct_size = sizeof in;

  options.backend = "no_such";
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, &options, &total, NULL), FANIN_INVALID_ARGUMENT, "no_such");
  options.backend = "serial", options.variant = "kahn";
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, &options, &total, NULL), FANIN_INVALID_ARGUMENT, "kahn");
  options.variant = NULL, options.method = 3;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, &options, &total, NULL), FANIN_INVALID_ARGUMENT, "method");
  options.method = FANIN_FAST, options.nan = 2;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, &options, &total, NULL), FANIN_INVALID_ARGUMENT, "NaN");

  in.count = 1;
  unset.struct_size = 0;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, NULL, &total, &unset), FANIN_INVALID_ARGUMENT, "the report");
  CHECK(fanin_reduce(FANIN_SUM, &in, NULL, &total, NULL) == FANIN_OK && total == INT64_MAX);
  CHECK(strstr(fanin_last_error(), "the report") != NULL); /* kept until the next failure */
}

/* A program that was compiled with a newer header, whose struct is longer. */
static void newer_program(void) {
  struct {
    fanin_options known;
    int64_t member;
  } longer = {FANIN_OPTIONS_INIT, 0};
  const double x[2] = {1, 2};
  const fanin_input in = input_of(x, 2, FANIN_F64);
  double value = 0;
  longer.known.struct_size = sizeof longer;
  CHECK(fanin_reduce(FANIN_SUM, &in, &longer.known, &value, NULL) == FANIN_OK && value == 3);
  longer.member = 1;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, &longer.known, &value, NULL), FANIN_INVALID_ARGUMENT,
              "members that this version does not know");
}

/* A program that was compiled with the first header, whose options end before the devices. */
static void older_program(void) {
  const double x[2] = {1, 2};
  const fanin_input in = input_of(x, 2, FANIN_F64);
  double value = 0;
  fanin_options shorter = FANIN_OPTIONS_INIT;
  shorter.struct_size = offsetof(fanin_options, devices);
  shorter.backend = "serial";
  shorter.device_count = 1; /* what lies behind the older struct is not read */
  CHECK(fanin_reduce(FANIN_SUM, &in, &shorter, &value, NULL) == FANIN_OK && value == 3);
  --shorter.struct_size;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, &shorter, &value, NULL), FANIN_INVALID_ARGUMENT, "struct_size");
}

static void devices(void) {
  const double x[2] = {1, 2};
  const fanin_input in = input_of(x, 2, FANIN_F64);
  const int32_t numbers[2] = {0, 4096};
  double value = 0;
  fanin_options options = FANIN_OPTIONS_INIT;
  options.device_count = 1;
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, &options, &value, NULL), FANIN_INVALID_ARGUMENT, "the list of devices");
  options.devices = numbers, options.backend = "serial";
  CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, &options, &value, NULL), FANIN_UNSUPPORTED, "serial has no devices");
  options.backend = "cuda";
  if (fanin_reduce(FANIN_SUM, &in, &options, &value, NULL) == FANIN_OK) {
    CHECK(value == 3);
    options.device_count = 2;
    CHECK_FAILS(fanin_reduce(FANIN_SUM, &in, &options, &value, NULL), FANIN_INVALID_ARGUMENT, "no device 4096");
  } else {
    CHECK(fanin_backend_obstacle(0) != NULL);
  }
}

static void names(void) {
  int operations = 0, types = 0, backends = 0, usable = 0;
  fanin_type number = -7;
  fanin_form form = -7;
  size_t bytes = 0;
  while (fanin_operation_name(operations) != NULL) {
    CHECK(fanin_operation_inputs(operations) >= 1 && strlen(fanin_operation_story(operations)) > 5);
    ++operations;
  }
  while (fanin_type_name(types) != NULL) CHECK(fanin_type_size(types++) > 0);
  for (; fanin_backend_name((uint32_t)backends) != NULL; ++backends) {
    usable += fanin_backend_obstacle((uint32_t)backends) == NULL;
  }
  CHECK(operations == FANIN_VDOT + 1 && types == FANIN_C128 + 1 && backends == 6 && usable >= 1);
  CHECK(strcmp(fanin_method_name(FANIN_EXACT), "exact") == 0 && fanin_method_name(3) == NULL);
  CHECK(fanin_operation_name(-1) == NULL && fanin_type_name(-1) == NULL && fanin_type_size(99) == 0);
  CHECK(fanin_operation_inputs(99) == 0 && fanin_operation_story(-1) == NULL && fanin_backend_obstacle(99) != NULL);
  CHECK(strlen(fanin_version()) >= 5);

  CHECK(fanin_has_method(FANIN_PRODUCT, FANIN_F32, FANIN_FAST) == 1);
  CHECK(fanin_has_method(FANIN_PRODUCT, FANIN_F32, FANIN_EXACT) == 0);
  CHECK(fanin_has_method(FANIN_PRODUCT, FANIN_I32, FANIN_EXACT) == 1);
  CHECK(fanin_has_method(FANIN_SUM_OF_MAGNITUDES, FANIN_C64, FANIN_EXACT) == 0);
  CHECK(fanin_has_method(FANIN_SUM, FANIN_F32, 256 + FANIN_EXACT) == 0 && fanin_has_method(-1, FANIN_F32, 0) == 0);
  CHECK(fanin_has_method(FANIN_SUM, 99, FANIN_EXACT) == 0 && fanin_has_method(FANIN_SUM, FANIN_F32, -1) == 0);

  CHECK(fanin_result_type(FANIN_ARGMIN, FANIN_F32, FANIN_TYPE_DEFAULT, &number, &form, &bytes) == FANIN_OK);
  CHECK(number == FANIN_F32 && form == FANIN_INDEXED && bytes == 16);
  CHECK(fanin_result_type(FANIN_SUM, FANIN_U8, FANIN_TYPE_DEFAULT, &number, &form, &bytes) == FANIN_OK);
  CHECK(number == FANIN_U64 && form == FANIN_NUMBER && bytes == 8);
  CHECK(fanin_result_type(FANIN_SUM, FANIN_F32, FANIN_F64, NULL, NULL, &bytes) == FANIN_OK && bytes == 8);
  CHECK_FAILS(fanin_result_type(FANIN_MIN, FANIN_C64, FANIN_TYPE_DEFAULT, NULL, NULL, NULL), FANIN_UNSUPPORTED,
              "c64");
}

/* Whether the header has the enumerator of that name, in capitals, with that value. */
static int has_enumerator(const char* header, const char* name, int value) {
  char line[100] = "FANIN_";
  size_t end = strlen(line);
  for (; *name != 0; ++name) line[end++] = (char)toupper((unsigned char)*name);
  sprintf(line + end, " = %d", value);
  return strstr(header, line) != NULL;
}

/* The header names every operation, type and method as the catalogue does. */
static void spelling(const char* path) {
  static char header[100000];
  FILE* const file = fopen(path, "rb");
  int i;
  CHECK(file != NULL);
  if (file == NULL) return;
  CHECK(fread(header, 1, sizeof header - 1, file) > 10000);
  fclose(file);
  for (i = 0; fanin_operation_name(i) != NULL; ++i) CHECK(has_enumerator(header, fanin_operation_name(i), i));
  for (i = 0; fanin_type_name(i) != NULL; ++i) CHECK(has_enumerator(header, fanin_type_name(i), i));
  for (i = 0; fanin_method_name(i) != NULL; ++i) CHECK(has_enumerator(header, fanin_method_name(i), i));
}

static void planned_and_in_blocks(void) {
  const float x[3] = {1, 2, 4};
  const fanin_input in = input_of(x, 3, FANIN_F32);
  fanin_options skip = FANIN_OPTIONS_INIT;
  fanin_input of_doubles = in;
  fanin_plan* plan = NULL;
  fanin_incremental* stream = NULL;
  fanin_report report = FANIN_REPORT_INIT;
  float value = 0;
  int i;

  CHECK(fanin_plan_create(FANIN_SUM, FANIN_F32, FANIN_HOST, FANIN_ARRAY, 3, NULL, &plan) == FANIN_OK);
  CHECK(fanin_plan_reduce(plan, &in, &value, &report) == FANIN_OK && value == 7);
  of_doubles.type = FANIN_F64;
  CHECK_FAILS(fanin_plan_reduce(plan, &of_doubles, &value, NULL), FANIN_INVALID_ARGUMENT, "not like the plan");
  CHECK_FAILS(fanin_plan_reduce(NULL, &in, &value, NULL), FANIN_INVALID_ARGUMENT, "the plan is null");
  fanin_plan_destroy(plan);
  fanin_plan_destroy(NULL);
  CHECK_FAILS(fanin_plan_create(FANIN_SUM, FANIN_F32, FANIN_HOST, 4, 3, NULL, &plan), FANIN_INVALID_ARGUMENT,
              "layout");
  CHECK(plan == NULL);

  CHECK(fanin_incremental_create(FANIN_MEAN, FANIN_F32, NULL, &stream) == FANIN_OK);
  for (i = 0; i < 1000; ++i) CHECK(fanin_incremental_push(stream, &in) == FANIN_OK);
  CHECK_FAILS(fanin_incremental_push(stream, &of_doubles), FANIN_INVALID_ARGUMENT, "blocks");
  CHECK(fanin_incremental_finish(stream, &value, &report) == FANIN_OK && value == 7.f / 3);
  fanin_incremental_destroy(stream);
  CHECK(fanin_incremental_create(FANIN_MAX, FANIN_F32, NULL, &stream) == FANIN_OK);
  CHECK_FAILS(fanin_incremental_finish(stream, &value, NULL), FANIN_INVALID_ARGUMENT, "max");
  fanin_incremental_destroy(stream);
  skip.nan = FANIN_NAN_SKIP;
  CHECK_FAILS(fanin_incremental_create(FANIN_LOG_SUM_EXP, FANIN_E4M3, &skip, &stream), FANIN_UNSUPPORTED, "infinity");
  CHECK(stream == NULL);
}

static void lists_of_arrays(void) {
  const float x[3] = {1, -2, 4}, y[2] = {8, 1e30f}, z[1] = {-1e30f};
  const fanin_input a = input_of(x, 3, FANIN_F32), b = input_of(y, 2, FANIN_F32), none = input_of(NULL, 0, FANIN_F32);
  fanin_input c = input_of(z, 1, FANIN_F32);
  const fanin_input* all[5];
  fanin_options fast = FANIN_OPTIONS_INIT;
  fanin_report report = FANIN_REPORT_INIT;
  struct {
    float value;
    uint64_t index;
  } largest;
  float value = 0;

  all[0] = &a, all[1] = &none, all[2] = &b, all[3] = &c, all[4] = &none;
  CHECK(fanin_reduce_arrays(FANIN_SUM, all, 5, NULL, &value, &report) == FANIN_OK && value == 11);
  CHECK(report.reproducibility == FANIN_SAME_FOR_ANY_ORDER && report.bound_of_result > 0);
  CHECK(fanin_reduce_arrays(FANIN_NORM2, all, 2, NULL, &value, NULL) == FANIN_OK && value == sqrtf(21));
  CHECK(fanin_reduce_arrays(FANIN_MAX_MAGNITUDE, all, 4, NULL, &value, NULL) == FANIN_OK && value == 1e30f);
  CHECK(fanin_reduce_arrays(FANIN_ARGMAX, all, 5, NULL, &largest, NULL) == FANIN_OK && largest.index == 4);
  fast.method = FANIN_FAST;
  CHECK(fanin_reduce_arrays(FANIN_SUM, all, 3, &fast, &value, NULL) == FANIN_OK && value == 1e30f);
  CHECK(fanin_reduce_arrays(FANIN_SUM, all + 1, 1, NULL, &value, NULL) == FANIN_OK && value == 0);
  CHECK_FAILS(fanin_reduce_arrays(FANIN_MAX, all + 1, 1, NULL, &value, NULL), FANIN_INVALID_ARGUMENT, "max");
  CHECK_FAILS(fanin_reduce_arrays(FANIN_SUM, all, 0, NULL, &value, NULL), FANIN_INVALID_ARGUMENT, "no arrays");
  CHECK_FAILS(fanin_reduce_arrays(FANIN_SUM, NULL, 1, NULL, &value, NULL), FANIN_INVALID_ARGUMENT, "null");
  c.type = FANIN_I32;
  CHECK_FAILS(fanin_reduce_arrays(FANIN_SUM, all, 4, NULL, &value, NULL), FANIN_INVALID_ARGUMENT, "differ in type");
  c.type = FANIN_F32, c.place = FANIN_DEVICE;
  CHECK_FAILS(fanin_reduce_arrays(FANIN_SUM, all, 4, NULL, &value, NULL), FANIN_INVALID_ARGUMENT, "on devices");
}

/* The largest possible error, as one number. */
static void bounds(void) {
  const double x[3] = {1, 0x1p-60, -3};
  const fanin_input in = input_of(x, 3, FANIN_F64);
  fanin_options options = FANIN_OPTIONS_INIT;
  fanin_report report = FANIN_REPORT_INIT;
  double value = 0;
  fanin_output out = FANIN_OUTPUT_INIT;
  fanin_batch batch = FANIN_BATCH_INIT;
  const uint64_t shape[1] = {3};
  const int32_t along[1] = {0};

  CHECK(fanin_reduce(FANIN_SUM, &in, NULL, &value, &report) == FANIN_OK && value == -2);
  CHECK(report.method == FANIN_EXACT && report.error_bound == 0x1p-52 && strcmp(report.unproven, "") == 0);
  options.method = FANIN_FAST;
  CHECK(fanin_reduce(FANIN_SUM, &in, &options, &value, &report) == FANIN_OK);
  CHECK(isinf(report.error_bound) && strstr(report.unproven, "option `bound`") != NULL);
  options.bound = 1;
  CHECK(fanin_reduce(FANIN_SUM, &in, &options, &value, &report) == FANIN_OK);
  CHECK(report.error_bound > 0x1p-60 && report.error_bound < 1e-14 && strcmp(report.unproven, "") == 0);
  CHECK(fanin_reduce(FANIN_MAX, &in, NULL, &value, &report) == FANIN_OK && report.error_bound == 0);

  batch.shape = shape, batch.axis_count = 1, batch.along = along, batch.along_count = 1;
  out.data = &value, out.count = 1;
  CHECK_FAILS(fanin_reduce_batch(FANIN_SUM, &in, &batch, &options, &out, &report), FANIN_UNSUPPORTED, "bound");
  CHECK(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &out, &report) == FANIN_OK && value == -2);
  CHECK(isinf(report.error_bound) && strstr(report.unproven, "bounds of their own") != NULL);

  /* A program from before these members gets no byte behind its structs, and asks for no bound. */
  options.struct_size = offsetof(fanin_options, bound);
  report.struct_size = offsetof(fanin_report, error_bound), report.error_bound = 77;
  CHECK(fanin_reduce(FANIN_SUM, &in, &options, &value, &report) == FANIN_OK);
  CHECK(report.error_bound == 77 && report.bound_of_magnitudes > 0);
}

static void descriptions(void) {
  const float x[5] = {3, 1, NAN, 2, 9};
  const int8_t bytes[3] = {-128, -128, 127};
  const uint64_t large[2] = {UINT64_MAX, 1};
  const unsigned char taken[5] = {1, 1, 1, 1, 0};
  fanin_input in = input_of(x, 5, FANIN_F32), of_bytes = input_of(bytes, 3, FANIN_I8);
  fanin_options options = FANIN_OPTIONS_INIT;
  fanin_report report = FANIN_REPORT_INIT;
  fanin_description all = FANIN_DESCRIPTION_INIT;
  float deviation;
  in.mask = taken;
  CHECK(fanin_describe(&in, NULL, &all, &report) == FANIN_OK);
  CHECK(all.count == 3 && all.nan == 1 && isnan(all.min.f32) && isnan(all.mean.f32));
  options.nan = FANIN_NAN_SKIP;
  CHECK(fanin_describe(&in, &options, &all, &report) == FANIN_OK);
  CHECK(all.type == FANIN_F32 && all.sum_type == FANIN_F32 && all.quotient_type == FANIN_F32);
  CHECK(all.min.f32 == 1 && all.max.f32 == 3 && all.sum.f32 == 6 && all.mean.f32 == 2);
  CHECK(fanin_reduce(FANIN_STANDARD_DEVIATION, &in, &options, &deviation, NULL) == FANIN_OK);
  CHECK(all.standard_deviation.f32 == deviation && report.method == FANIN_EXACT && report.absent == 2);
  CHECK(fanin_describe(&of_bytes, NULL, &all, NULL) == FANIN_OK);
  CHECK(all.type == FANIN_I8 && all.sum_type == FANIN_I64 && all.quotient_type == FANIN_F64);
  CHECK(all.count == 3 && all.min.i8 == -128 && all.max.i8 == 127 && all.sum.i64 == -129 && all.mean.f64 == -43);

  in = input_of(large, 2, FANIN_U64);
  CHECK(fanin_describe(&in, NULL, &all, NULL) == FANIN_OK && all.sum_overflows && all.sum.u64 == 0);
  CHECK(all.count == 2 && all.min.u64 == 1 && all.max.u64 == UINT64_MAX && all.mean.f64 == 0x1p63);
  /* A program from before sum_overflows gets the error of before, and no byte behind its struct. */
  all.struct_size = offsetof(fanin_description, sum_overflows), all.sum_overflows = 77;
  CHECK_FAILS(fanin_describe(&in, NULL, &all, NULL), FANIN_OVERFLOW, "the sum");
  CHECK(fanin_describe(&of_bytes, NULL, &all, NULL) == FANIN_OK && all.sum.i64 == -129 && all.sum_overflows == 77);
  all.struct_size = sizeof all;
  CHECK(fanin_describe(&of_bytes, NULL, &all, NULL) == FANIN_OK && all.sum_overflows == 0);

  in = input_of(x, 5, FANIN_F32);
  of_bytes.count = 0;
  CHECK_FAILS(fanin_describe(&of_bytes, NULL, &all, NULL), FANIN_INVALID_ARGUMENT, "no elements to describe");
  of_bytes.type = FANIN_C64;
  CHECK_FAILS(fanin_describe(&of_bytes, NULL, &all, NULL), FANIN_UNSUPPORTED, "complex");
  options.method = FANIN_FAST;
  CHECK_FAILS(fanin_describe(&in, &options, &all, NULL), FANIN_INVALID_ARGUMENT, "exact");
  all.struct_size = 0;
  CHECK_FAILS(fanin_describe(&in, NULL, &all, NULL), FANIN_INVALID_ARGUMENT, "the description");
}

/* Where there is no device, a context says so; where there is one, it reduces host memory. */
static void contexts(void) {
  const float x[2] = {1, 2};
  const fanin_input in = input_of(x, 2, FANIN_F32);
  fanin_context* context = NULL;
  float value = 0;
  int64_t lanes[18];
  const int32_t keys[2] = {0, 0};
  fanin_batch batch = FANIN_BATCH_INIT;
  fanin_output output = FANIN_OUTPUT_INIT;
  fanin_description all = FANIN_DESCRIPTION_INIT;
  batch.layout = FANIN_GROUPS, batch.index = keys, batch.index_count = 2, batch.index_type = FANIN_I32;
  batch.group_count = 1, output.data = &value, output.count = 1;
  CHECK_FAILS(fanin_context_add_to(NULL, FANIN_SUM, &in, &batch, NULL, &output, NULL), FANIN_INVALID_ARGUMENT,
              "the context is null");
  CHECK_FAILS(fanin_context_enqueue_add_to(NULL, FANIN_SUM, &in, &batch, NULL, &output), FANIN_INVALID_ARGUMENT,
              "the context is null");
  CHECK_FAILS(fanin_context_enqueue_add_rows(NULL, &in, &in, 1, &in, &output), FANIN_INVALID_ARGUMENT,
              "the context is null");
  CHECK_FAILS(fanin_context_describe(NULL, &in, NULL, &all, NULL), FANIN_INVALID_ARGUMENT, "the context is null");
  CHECK(fanin_lane_count(FANIN_SUM, FANIN_F32) == 18 && fanin_lane_count(FANIN_NORM2, FANIN_F64) == 141);
  CHECK(fanin_lane_count(FANIN_MAX, FANIN_F32) == 0 && fanin_lane_count(FANIN_SUM, FANIN_I32) == 0);
  CHECK_FAILS(fanin_context_enqueue_lanes_of_arrays(NULL, FANIN_SUM, NULL, 0, NULL, lanes), FANIN_INVALID_ARGUMENT,
              "no arrays");
  fanin_allocator allocator = FANIN_ALLOCATOR_INIT;
  CHECK_FAILS(fanin_context_create_with(0, NULL, NULL, &context), FANIN_INVALID_ARGUMENT, "the allocator is null");
  CHECK_FAILS(fanin_context_create_with(0, NULL, &allocator, &context), FANIN_INVALID_ARGUMENT, "no functions");
  if (fanin_backend_obstacle(0) != NULL) {
    fanin_input on_device = in;
    on_device.place = FANIN_DEVICE;
    CHECK_FAILS(fanin_describe(&on_device, NULL, &all, NULL), FANIN_UNSUPPORTED, "device memory");
    CHECK(fanin_context_create(0, NULL, &context) == FANIN_BACKEND_UNAVAILABLE && context == NULL);
    return;
  }
  CHECK(fanin_context_create(0, NULL, &context) == FANIN_OK && fanin_context_stream(context) != NULL);
  CHECK(fanin_context_reduce(context, FANIN_SUM, &in, NULL, &value, NULL) == FANIN_OK && value == 3);
  CHECK(fanin_context_describe(context, &in, NULL, &all, NULL) == FANIN_OK && all.count == 2 && all.mean.f32 == 1.5f);
  CHECK_FAILS(fanin_context_enqueue(context, FANIN_SUM, &in, NULL, &value), FANIN_INVALID_ARGUMENT, "device memory");
  CHECK_FAILS(fanin_context_enqueue_add_rows(context, &in, &in, 1, &in, &output), FANIN_INVALID_ARGUMENT,
              "keys are integers");
  CHECK_FAILS(fanin_context_add_to(context, FANIN_SUM, &in, &batch, NULL, &output, NULL), FANIN_UNSUPPORTED,
              "device memory");
  CHECK_FAILS(fanin_context_enqueue_add_to(context, FANIN_SUM, &in, &batch, NULL, &output), FANIN_UNSUPPORTED,
              "device memory");
  CHECK_FAILS(fanin_context_enqueue_lanes(context, FANIN_SUM, &in, NULL, lanes), FANIN_INVALID_ARGUMENT,
              "device memory");
  CHECK_FAILS(fanin_context_enqueue_value_of_lanes(context, FANIN_MAX, FANIN_F32, lanes, NULL, &value),
              FANIN_UNSUPPORTED, "lanes");
  fanin_context_destroy(context);
}

int main(int arguments, char** values) {
  one_array();
  log_sum_of_integers();
  errors();
  newer_program();
  older_program();
  devices();
  names();
  CHECK(arguments == 2);
  if (arguments == 2) spelling(values[1]);
  planned_and_in_blocks();
  lists_of_arrays();
  bounds();
  descriptions();
  contexts();
  return failed_checks;
}
