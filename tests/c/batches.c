/* SPDX-License-Identifier: Apache-2.0 */
/* Many results in the C interface on the CPU: rows, segments and groups, of one input and of two. */
#include "check.h"

static void batches(void) {
  const double x[6] = {1, 2, 3, 4, 5, 6};
  const uint64_t shape[2] = {2, 3};
  const int64_t backwards[2] = {3, -1};
  const int32_t last[1] = {-1}, first[1] = {0}, offsets[4] = {0, 2, 2, 6}, keys[6] = {1, 0, 1, 7, 0, 1};
  const double none = -5;
  fanin_input in = input_of(x, 6, FANIN_F64);
  fanin_batch batch = FANIN_BATCH_INIT;
  fanin_output output = FANIN_OUTPUT_INIT;
  fanin_report report = FANIN_REPORT_INIT;
  double out[3];
  uint64_t count = 0;
  output.data = out;

  batch.shape = shape, batch.axis_count = 2, batch.along = last, batch.along_count = 1;
  CHECK(fanin_batch_results(&in, &batch, &count) == FANIN_OK && count == 2);
  output.count = 2;
  CHECK(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, NULL) == FANIN_OK && out[0] == 6 && out[1] == 15);
  batch.along = first, output.count = 3;
  CHECK(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, NULL) == FANIN_OK && out[0] == 5 && out[2] == 9);
  batch.strides = backwards, in.x = x + 2, output.count = 3;
  CHECK(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, NULL) == FANIN_OK && out[0] == 9 && out[2] == 5);
  in.x = x, batch.strides = NULL, output.count = 2;
  CHECK_FAILS(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, NULL), FANIN_INVALID_ARGUMENT, "2 results");

  batch.layout = FANIN_SEGMENTS, batch.index = offsets, batch.index_count = 4, batch.index_type = FANIN_I32;
  batch.if_empty = &none, output.count = 3;
  CHECK(fanin_reduce_batch(FANIN_MAX, &in, &batch, NULL, &output, NULL) == FANIN_OK);
  CHECK(out[0] == 2 && out[1] == -5 && out[2] == 6);

  batch.layout = FANIN_GROUPS, batch.index = keys, batch.index_count = 6, batch.group_count = 2, output.count = 2;
  CHECK_FAILS(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, NULL), FANIN_INVALID_ARGUMENT, "key");
  batch.drop_others = 1;
  CHECK(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, &report) == FANIN_OK);
  CHECK(out[0] == 7 && out[1] == 10 && report.absent == 1);
  batch.if_empty = NULL;
  CHECK(fanin_add_to(FANIN_SUM, &in, &batch, NULL, &output, &report) == FANIN_OK);
  CHECK(out[0] == 14 && out[1] == 20 && report.absent == 1);
  CHECK_FAILS(fanin_add_to(FANIN_MEAN, &in, &batch, NULL, &output, NULL), FANIN_UNSUPPORTED, "mean");
  {
    fanin_plan* plan = NULL;
    CHECK(fanin_plan_create(FANIN_SUM, FANIN_F64, FANIN_HOST, FANIN_GROUPS, 6, NULL, &plan) == FANIN_OK);
    out[0] = 0;
    CHECK(fanin_plan_reduce_batch(plan, &in, &batch, &output, NULL) == FANIN_OK && out[0] == 7);
    fanin_plan_destroy(plan);
    CHECK(fanin_plan_create_add_to(FANIN_SUM, FANIN_F64, FANIN_HOST, FANIN_GROUPS, NULL, &plan) == FANIN_OK);
    CHECK(fanin_plan_reduce_batch(plan, &in, &batch, &output, &report) == FANIN_OK);
    CHECK(out[0] == 14 && out[1] == 20 && report.absent == 1);
    batch.if_empty = &none;
    CHECK_FAILS(fanin_plan_reduce_batch(plan, &in, &batch, &output, NULL), FANIN_INVALID_ARGUMENT, "if_empty");
    batch.if_empty = NULL;
    fanin_plan_destroy(plan);
    CHECK_FAILS(fanin_plan_create_add_to(FANIN_MEAN, FANIN_F64, FANIN_HOST, FANIN_ROWS, NULL, &plan),
                FANIN_UNSUPPORTED, "mean");
    CHECK(plan == NULL);
    CHECK_FAILS(fanin_plan_create_add_to(FANIN_SUM, FANIN_F64, FANIN_HOST, FANIN_ARRAY, NULL, &plan),
                FANIN_INVALID_ARGUMENT, "rows, segments or groups");
    CHECK_FAILS(fanin_plan_create_add_to(FANIN_SUM, FANIN_F64, FANIN_HOST, FANIN_ROWS, NULL, NULL),
                FANIN_INVALID_ARGUMENT, "the place for the plan");
  }
  batch.layout = FANIN_ARRAY;
  CHECK_FAILS(fanin_batch_results(&in, &batch, &count), FANIN_INVALID_ARGUMENT, "layout");
}

/* Batches of two inputs, of any layout and of complex numbers. */
static void batches_of_pairs(void) {
  const double x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
  const uint64_t shape[2] = {2, 2};
  const int32_t last[1] = {-1}, keys[4] = {0, 0, 2, 1};
  const int64_t offsets[3] = {0, 1, 4};
  fanin_input in = input_of(x, 4, FANIN_F64);
  fanin_batch batch = FANIN_BATCH_INIT;
  fanin_output output = FANIN_OUTPUT_INIT;
  double out[4];
  uint64_t count = 0;
  output.data = out, in.y = y;

  batch.shape = shape, batch.axis_count = 2, batch.along = last, batch.along_count = 1;
  CHECK(fanin_batch_results(&in, &batch, &count) == FANIN_OK && count == 2);
  output.count = count;
  CHECK(fanin_reduce_batch(FANIN_DOT, &in, &batch, NULL, &output, NULL) == FANIN_OK && out[0] == 17 && out[1] == 53);

  batch.layout = FANIN_SEGMENTS, batch.index = offsets, batch.index_count = 3, batch.index_type = FANIN_I64;
  CHECK(fanin_batch_results(&in, &batch, &count) == FANIN_OK && count == 2);
  CHECK(fanin_reduce_batch(FANIN_DOT, &in, &batch, NULL, &output, NULL) == FANIN_OK && out[0] == 5 && out[1] == 65);

  batch.layout = FANIN_GROUPS, batch.index = keys, batch.index_count = 4, batch.index_type = FANIN_I32;
  batch.group_count = 3;
  CHECK(fanin_batch_results(&in, &batch, &count) == FANIN_OK && count == 3);
  output.count = count;
  CHECK(fanin_reduce_batch(FANIN_DOT, &in, &batch, NULL, &output, NULL) == FANIN_OK);
  CHECK(out[0] == 17 && out[1] == 32 && out[2] == 21);

  in.type = FANIN_C128, in.count = 2; /* 1 + 2i, 3 + 4i and 5 + 6i, 7 + 8i */
  batch.layout = FANIN_SEGMENTS, batch.index = offsets, batch.index_count = 2, batch.index_type = FANIN_I64;
  CHECK(fanin_batch_results(&in, &batch, &count) == FANIN_OK && count == 1);
  output.count = count;
  CHECK(fanin_reduce_batch(FANIN_VDOT, &in, &batch, NULL, &output, NULL) == FANIN_OK && out[0] == 17 && out[1] == -4);

  CHECK_FAILS(fanin_batch_results(NULL, &batch, &count), FANIN_INVALID_ARGUMENT, "the input is null");
  CHECK_FAILS(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, NULL), FANIN_INVALID_ARGUMENT, "y is set");
}

/* Several operations at once, each with results of a type of its own. */
static void operations(void) {
  const float x[6] = {1, 2, 3, 4, 5, 9};
  const uint64_t shape[2] = {2, 3};
  const int32_t last[1] = {-1};
  const fanin_operation whats[3] = {FANIN_MEAN, FANIN_ARGMAX, FANIN_SUM}, unknown[1] = {99};
  const fanin_type types[3] = {FANIN_F64, FANIN_TYPE_DEFAULT, FANIN_TYPE_DEFAULT};
  fanin_input in = input_of(x, 6, FANIN_F32);
  fanin_batch batch = FANIN_BATCH_INIT;
  fanin_output outputs[3] = {FANIN_OUTPUT_INIT, FANIN_OUTPUT_INIT, FANIN_OUTPUT_INIT};
  const fanin_output* pointers[3];
  fanin_report report = FANIN_REPORT_INIT;
  fanin_report* reports[3] = {NULL, NULL, &report};
  double means[2];
  struct {
    float value;
    uint64_t index;
  } largest[2];
  float sums[2];
  int i;
  batch.shape = shape, batch.axis_count = 2, batch.along = last, batch.along_count = 1;
  outputs[0].data = means, outputs[1].data = largest, outputs[2].data = sums;
  for (i = 0; i < 3; ++i) outputs[i].count = 2, pointers[i] = &outputs[i];
  CHECK(fanin_reduce_each(whats, types, 3, &in, &batch, NULL, pointers, reports) == FANIN_OK);
  CHECK(means[0] == 2 && means[1] == 6 && largest[1].value == 9 && largest[1].index == 2 && sums[1] == 18);
  CHECK(strcmp(report.variant, "exact") == 0 && report.bound_of_result > 0);
  CHECK(fanin_reduce_each(whats + 1, NULL, 2, &in, &batch, NULL, pointers + 1, NULL) == FANIN_OK && sums[0] == 6);
  CHECK_FAILS(fanin_reduce_each(whats, types, 0, &in, &batch, NULL, pointers, NULL), FANIN_INVALID_ARGUMENT,
              "no operations");
  CHECK_FAILS(fanin_reduce_each(unknown, NULL, 1, &in, &batch, NULL, pointers, NULL), FANIN_INVALID_ARGUMENT,
              "operation");
  CHECK_FAILS(fanin_reduce_each(NULL, NULL, 1, &in, &batch, NULL, pointers, NULL), FANIN_INVALID_ARGUMENT, "null");
  CHECK_FAILS(fanin_reduce_each(whats, NULL, 1, &in, &batch, NULL, NULL, NULL), FANIN_INVALID_ARGUMENT, "null");
  CHECK_FAILS(fanin_context_enqueue_each(NULL, whats, types, 3, &in, &batch, NULL, pointers), FANIN_INVALID_ARGUMENT,
              "context");
}

/* Keys of 8 and 16 bits: negative ones, and keys beyond 127, of fewer and of more groups than the type has numbers.
 */
static void short_keys(void) {
  const double x[5] = {1, 2, 4, 8, 16};
  const int8_t keys_i8[5] = {1, -1, 1, 127, 0};
  const uint8_t keys_u8[5] = {1, 255, 1, 127, 0};
  const int16_t keys_i16[5] = {1, -1, 1, 127, 0};
  const uint16_t keys_u16[5] = {1, 65535, 1, 127, 0};
  const void* const keys[4] = {keys_i8, keys_u8, keys_i16, keys_u16};
  const fanin_type types[4] = {FANIN_I8, FANIN_U8, FANIN_I16, FANIN_U16};
  static double out[300];
  const fanin_input in = input_of(x, 5, FANIN_F64);
  fanin_batch batch = FANIN_BATCH_INIT;
  fanin_output output = FANIN_OUTPUT_INIT;
  fanin_report report;
  int i;
  output.data = out;
  batch.layout = FANIN_GROUPS, batch.index_count = 5;
  for (i = 0; i < 4; ++i) {
    batch.index = keys[i], batch.index_type = types[i];
    batch.group_count = output.count = 128, batch.drop_others = 0;
    CHECK_FAILS(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, NULL), FANIN_INVALID_ARGUMENT,
                i % 2 == 0 ? "key 1 is -1, and the last group is 127"
                : i == 1   ? "key 1 is 255, and the last group is 127"
                           : "key 1 is 65535, and the last group is 127");
    batch.group_count = output.count = 300, batch.drop_others = 1;
    CHECK(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, &report) == FANIN_OK);
    CHECK(out[0] == 16 && out[1] == 5 && out[127] == 8 && out[255] == (i == 1 ? 2 : 0));
    CHECK(report.absent == (i == 1 ? 0u : 1u));
  }
  batch.layout = FANIN_SEGMENTS;
  CHECK_FAILS(fanin_reduce_batch(FANIN_SUM, &in, &batch, NULL, &output, NULL), FANIN_INVALID_ARGUMENT,
              "offsets are integers of 32 or 64 bits, not u16");
}

int main(void) {
  batches();
  short_keys();
  batches_of_pairs();
  operations();
  return failed_checks;
}
