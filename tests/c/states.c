/* SPDX-License-Identifier: Apache-2.0 */
/* States of exact sums in the C interface: accumulate, merge, finish, bytes and lanes. */
#include <math.h>

#include "check.h"

enum { parts = 5, length = 100003 };
static double x[parts * length];

/* Numbers of both signs over 60 binades. */
static void fill(void) {
  uint64_t bits = 88172645463325252u;
  int i;
  for (i = 0; i < parts * length; ++i) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    x[i] = ldexp((double)(int64_t)bits, (int)(bits % 60) - 93);
  }
}

static double value_of(const fanin_state* state, fanin_operation what) {
  double value = -1;
  CHECK(fanin_state_finish(state, what, FANIN_TYPE_DEFAULT, &value) == FANIN_OK);
  return value;
}

/* States of the parts, merged one way or another, are the state of all elements. */
static void merged(fanin_operation what, fanin_operation other) {
  fanin_input all = input_of(x, parts * length, FANIN_F64);
  fanin_options exact = FANIN_OPTIONS_INIT;
  fanin_state *total = NULL, *by_lanes = NULL, *loaded = NULL;
  int64_t lanes[200], sums[200] = {0};
  unsigned char saved[600], again[600];
  double expected = 0, expected_other = 0;
  size_t i, bytes, count;
  int p;

  exact.method = FANIN_EXACT;
  CHECK(fanin_reduce(what, &all, &exact, &expected, NULL) == FANIN_OK);
  CHECK(fanin_reduce(other, &all, &exact, &expected_other, NULL) == FANIN_OK);
  CHECK(fanin_state_create(what, FANIN_F64, &total) == FANIN_OK && fanin_state_count(total) == 0);
  count = fanin_state_lane_count(total), bytes = fanin_state_saved_bytes(total);
  CHECK(count > 0 && count <= 200 && bytes > 0 && bytes <= sizeof saved);
  for (p = 0; p < parts; ++p) {
    const fanin_input part = input_of(x + p * length, length, FANIN_F64);
    fanin_report report = FANIN_REPORT_INIT;
    fanin_state* one = NULL;
    CHECK(fanin_state_create(what, FANIN_F64, &one) == FANIN_OK);
    CHECK(fanin_state_accumulate(one, &part, NULL, NULL, &report) == FANIN_OK);
    CHECK(report.method == FANIN_EXACT && fanin_state_count(one) == length);
    CHECK(fanin_state_lanes(one, lanes) == FANIN_OK);
    for (i = 0; i < count; ++i) sums[i] += lanes[i];
    CHECK(fanin_state_merge(total, one) == FANIN_OK);
    fanin_state_destroy(one);
  }
  CHECK(fanin_state_count(total) == parts * length);
  CHECK(value_of(total, what) == expected && value_of(total, other) == expected_other);

  CHECK(fanin_state_create(what, FANIN_F64, &by_lanes) == FANIN_OK);
  CHECK(fanin_state_from_lanes(by_lanes, sums) == FANIN_OK);
  CHECK(fanin_state_save(total, saved, bytes) == FANIN_OK && fanin_state_save(by_lanes, again, bytes) == FANIN_OK);
  CHECK(memcmp(saved, again, bytes) == 0);
  CHECK(fanin_state_load(saved, bytes, &loaded) == FANIN_OK && value_of(loaded, what) == expected);
  CHECK(fanin_state_count(loaded) == parts * length);

  saved[20] ^= 1;
  CHECK_FAILS(fanin_state_load(saved, bytes, &by_lanes), FANIN_INVALID_ARGUMENT, "checksum");
  CHECK(by_lanes == NULL);
  CHECK_FAILS(fanin_state_save(total, saved, bytes - 1), FANIN_INVALID_ARGUMENT, "bytes");
  fanin_state_destroy(total);
  fanin_state_destroy(loaded);
}

static void special_values(void) {
  const float zeros[2] = {-0.f, -0.f}, both[2] = {INFINITY, -INFINITY}, one[1] = {1};
  const uint16_t half[2] = {0x3c00, 0x7c00}; /* 1 and infinity, as f16 */
  fanin_input in = input_of(zeros, 2, FANIN_F32);
  fanin_options options = FANIN_OPTIONS_INIT;
  fanin_state *state = NULL, *doubles = NULL;
  int64_t lanes[32];
  double wide;
  float value = 1;

  CHECK(fanin_state_create(FANIN_SUM, FANIN_F32, &state) == FANIN_OK);
  CHECK(fanin_state_finish(state, FANIN_SUM, FANIN_F32, &value) == FANIN_OK && value == 0 && !signbit(value));
  CHECK_FAILS(fanin_state_finish(state, FANIN_MEAN, FANIN_F32, &value), FANIN_INVALID_ARGUMENT, "mean");
  CHECK(fanin_state_accumulate(state, &in, NULL, NULL, NULL) == FANIN_OK);
  CHECK(fanin_state_lanes(state, lanes) == FANIN_OK && fanin_state_from_lanes(state, lanes) == FANIN_OK);
  CHECK(fanin_state_finish(state, FANIN_SUM, FANIN_F32, &value) == FANIN_OK && value == 0 && signbit(value));

  in = input_of(half, 2, FANIN_F16);
  CHECK(fanin_state_accumulate(state, &in, NULL, NULL, NULL) == FANIN_OK && fanin_state_count(state) == 4);
  CHECK(fanin_state_finish(state, FANIN_SUM, FANIN_F64, &wide) == FANIN_OK && wide == INFINITY);
  in = input_of(both, 2, FANIN_F32);
  CHECK(fanin_state_accumulate(state, &in, NULL, NULL, NULL) == FANIN_OK);
  CHECK(fanin_state_lanes(state, lanes) == FANIN_OK && fanin_state_from_lanes(state, lanes) == FANIN_OK);
  CHECK(fanin_state_finish(state, FANIN_SUM, FANIN_F32, &value) == FANIN_OK && isnan(value));

  lanes[fanin_state_lane_count(state) - 1] = -1;
  CHECK_FAILS(fanin_state_from_lanes(state, lanes), FANIN_INVALID_ARGUMENT, "lanes");
  in = input_of(one, 1, FANIN_F32);
  options.method = FANIN_FAST;
  CHECK_FAILS(fanin_state_accumulate(state, &in, &options, NULL, NULL), FANIN_INVALID_ARGUMENT, "method");
  in.type = FANIN_I32;
  CHECK_FAILS(fanin_state_accumulate(state, &in, NULL, NULL, NULL), FANIN_INVALID_ARGUMENT, "i32");
  CHECK(fanin_state_count(state) == 6);
  CHECK_FAILS(fanin_state_finish(state, FANIN_NORM2, FANIN_F32, &value), FANIN_UNSUPPORTED, "norm2");
  CHECK_FAILS(fanin_state_finish(state, FANIN_SUM, FANIN_I64, &value), FANIN_UNSUPPORTED, "floating-point type");
  CHECK(fanin_state_create(FANIN_SUM, FANIN_F64, &doubles) == FANIN_OK);
  CHECK_FAILS(fanin_state_merge(state, doubles), FANIN_INVALID_ARGUMENT, "cannot be merged");
  CHECK_FAILS(fanin_state_merge(state, NULL), FANIN_INVALID_ARGUMENT, "null");
  fanin_state_destroy(doubles);
  fanin_state_destroy(state);
  fanin_state_destroy(NULL);
  CHECK_FAILS(fanin_state_create(FANIN_MAX, FANIN_F64, &state), FANIN_UNSUPPORTED, "max");
  CHECK_FAILS(fanin_state_create(FANIN_SUM, FANIN_I64, &state), FANIN_UNSUPPORTED, "i64");
}

/* Compact sums have the values and the bytes of states. */
static void compact(void) {
  const uint8_t valid[] = {0x0f};
  const double few[] = {1, 0x1p-80, 1e300, -1e300, 7};
  fanin_compact sum = FANIN_COMPACT_INIT, other, loaded = FANIN_COMPACT_INIT, empty = FANIN_COMPACT_INIT;
  fanin_state* state = NULL;
  unsigned char saved[FANIN_COMPACT_SAVED_BYTES], again[FANIN_COMPACT_SAVED_BYTES];
  double value = 0;
  float rounded = 0;
  const fanin_input all = input_of(x, length, FANIN_F64);
  size_t i;

  memset(&other, 0, sizeof other);
  for (i = 0; i < length; i += 2) CHECK(fanin_compact_add(&sum, x[i]) == FANIN_OK);
  CHECK(fanin_compact_add_many(&other, x + 1, length / 2, 2, NULL) == FANIN_OK);
  CHECK(fanin_compact_merge(&sum, &other) == FANIN_OK && fanin_compact_count(&sum) == length);
  CHECK(fanin_state_create(FANIN_SUM, FANIN_F64, &state) == FANIN_OK);
  CHECK(fanin_state_accumulate(state, &all, NULL, NULL, NULL) == FANIN_OK);
  CHECK(fanin_state_save(state, saved, sizeof saved) == FANIN_OK);
  CHECK(fanin_compact_save(&sum, again, sizeof again) == FANIN_OK && memcmp(saved, again, sizeof saved) == 0);
  CHECK(fanin_compact_load(saved, sizeof saved, &loaded) == FANIN_OK);
  CHECK(fanin_compact_finish(&loaded, FANIN_MEAN, FANIN_TYPE_DEFAULT, &value) == FANIN_OK);
  CHECK(value == value_of(state, FANIN_MEAN));
  CHECK(fanin_compact_finish(&sum, FANIN_SUM, FANIN_TYPE_DEFAULT, &value) == FANIN_OK);
  CHECK(value == value_of(state, FANIN_SUM));
  fanin_state_destroy(state);

  fanin_compact_clear(&loaded);
  CHECK(fanin_compact_count(&loaded) == 0);
  CHECK(fanin_compact_add_many(&loaded, few, 5, 1, valid) == FANIN_OK && fanin_compact_count(&loaded) == 4);
  CHECK(fanin_compact_subtract(&loaded, 1) == FANIN_OK);
  CHECK(fanin_compact_finish(&loaded, FANIN_SUM, FANIN_F32, &rounded) == FANIN_OK && rounded == 0x1p-80f);

  CHECK_FAILS(fanin_compact_subtract(&empty, 1), FANIN_INVALID_ARGUMENT, "no elements");
  CHECK_FAILS(fanin_compact_finish(&empty, FANIN_MEAN, FANIN_F64, &value), FANIN_INVALID_ARGUMENT, "mean");
  CHECK_FAILS(fanin_compact_finish(&sum, FANIN_MAX, FANIN_F64, &value), FANIN_UNSUPPORTED, "max");
  CHECK_FAILS(fanin_compact_finish(&sum, FANIN_SUM, FANIN_I64, &value), FANIN_UNSUPPORTED, "floating-point type");
  CHECK_FAILS(fanin_compact_save(&sum, saved, 8), FANIN_INVALID_ARGUMENT, "292 bytes");
  CHECK_FAILS(fanin_compact_load(saved, 8, &sum), FANIN_INVALID_ARGUMENT, "length");
  CHECK_FAILS(fanin_compact_add(NULL, 1), FANIN_INVALID_ARGUMENT, "null");
  CHECK(fanin_compact_count(&sum) == length && fanin_compact_count(NULL) == 0);
  fanin_compact_clear(&loaded);
  fanin_compact_clear(NULL);
}

/* Compact moments have the values of reductions. */
static void compact_moments(void) {
  static const fanin_operation whats[] = {FANIN_SUM,
                                          FANIN_MEAN,
                                          FANIN_NORM2,
                                          FANIN_SUM_OF_SQUARES,
                                          FANIN_VARIANCE,
                                          FANIN_SAMPLE_VARIANCE,
                                          FANIN_STANDARD_DEVIATION,
                                          FANIN_SAMPLE_STANDARD_DEVIATION};
  const uint8_t valid[] = {0x0b};
  const double few[] = {1, 3, 1e300, -3, 7};
  fanin_compact_moments sums = FANIN_COMPACT_MOMENTS_INIT, other, empty = FANIN_COMPACT_MOMENTS_INIT;
  unsigned char saved[FANIN_COMPACT_MOMENTS_SAVED_BYTES];
  const fanin_input all = input_of(x, length, FANIN_F64);
  double value = 0, expected = 1;
  float rounded = 0;
  size_t i;

  memset(&other, 0, sizeof other);
  for (i = 0; i < length; i += 2) CHECK(fanin_compact_moments_add(&sums, x[i]) == FANIN_OK);
  CHECK(fanin_compact_moments_add_many(&other, x + 1, length / 2, 2, NULL) == FANIN_OK);
  CHECK(fanin_compact_moments_merge(&sums, &other) == FANIN_OK && fanin_compact_moments_count(&sums) == length);
  CHECK(fanin_compact_moments_save(&sums, saved, sizeof saved) == FANIN_OK);
  CHECK(fanin_compact_moments_load(saved, sizeof saved, &other) == FANIN_OK);
  for (i = 0; i < sizeof whats / sizeof whats[0]; ++i) {
    CHECK(fanin_reduce(whats[i], &all, NULL, &expected, NULL) == FANIN_OK);
    CHECK(fanin_compact_moments_finish(&sums, whats[i], FANIN_TYPE_DEFAULT, &value) == FANIN_OK && value == expected);
    CHECK(fanin_compact_moments_finish(&other, whats[i], FANIN_F64, &value) == FANIN_OK && value == expected);
  }
  fanin_compact_moments_clear(&other);
  CHECK(fanin_compact_moments_count(&other) == 0);
  CHECK(fanin_compact_moments_add_many(&other, few, 5, 1, valid) == FANIN_OK);
  CHECK(fanin_compact_moments_count(&other) == 3 && fanin_compact_moments_subtract(&other, -3) == FANIN_OK);
  CHECK(fanin_compact_moments_finish(&other, FANIN_SAMPLE_VARIANCE, FANIN_F32, &rounded) == FANIN_OK && rounded == 2);

  CHECK_FAILS(fanin_compact_moments_subtract(&empty, 1), FANIN_INVALID_ARGUMENT, "no elements");
  CHECK_FAILS(fanin_compact_moments_finish(&empty, FANIN_VARIANCE, FANIN_F64, &value), FANIN_INVALID_ARGUMENT,
              "empty");
  CHECK(fanin_compact_moments_add(&empty, 1) == FANIN_OK);
  CHECK_FAILS(fanin_compact_moments_finish(&empty, FANIN_SAMPLE_VARIANCE, FANIN_F64, &value), FANIN_INVALID_ARGUMENT,
              "two");
  CHECK_FAILS(fanin_compact_moments_finish(&empty, FANIN_SUM_OF_MAGNITUDES, FANIN_F64, &value), FANIN_UNSUPPORTED,
              "sum_of_magnitudes");
  CHECK_FAILS(fanin_compact_moments_save(&sums, saved, 292), FANIN_INVALID_ARGUMENT, "848 bytes");
  CHECK_FAILS(fanin_compact_moments_load(saved, 292, &sums), FANIN_INVALID_ARGUMENT, "length");
  CHECK_FAILS(fanin_compact_moments_add(NULL, 1), FANIN_INVALID_ARGUMENT, "null");
  CHECK(fanin_compact_moments_count(&sums) == length && fanin_compact_moments_count(NULL) == 0);
  fanin_compact_moments_clear(&sums);
  fanin_compact_moments_clear(NULL);
}

int main(void) {
  fill();
  compact();
  compact_moments();
  merged(FANIN_SUM, FANIN_MEAN);
  merged(FANIN_SUM_OF_SQUARES, FANIN_NORM2);
  special_values();
  return failed_checks;
}
