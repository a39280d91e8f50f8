/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface: an exact sum with its report, a sum for each row, and a state that goes from one process to another. */
#include <stdio.h>

#include <fanin/fanin.h>

/* Prints what went wrong, and ends main(). */
#define TRY(call)                                    \
  do {                                               \
    if ((call) != FANIN_OK) {                        \
      fprintf(stderr, "%s\n", fanin_last_error());   \
      return 1;                                      \
    }                                                \
  } while (0)

int main(void) {
  const double x[6] = {1e100, 1, -1e100, 2, 1e-20, 3};
  double total, rows[2], merged;
  fanin_input in = FANIN_INPUT_INIT;
  fanin_options exact = FANIN_OPTIONS_INIT;
  fanin_report report = FANIN_REPORT_INIT;
  in.x = x, in.count = 6, in.type = FANIN_F64;
  exact.method = FANIN_EXACT;
  TRY(fanin_reduce(FANIN_SUM, &in, &exact, &total, &report));
  printf("sum %.17g by %s/%s\n", total, report.backend, report.variant);

  {
    const uint64_t shape[2] = {2, 3};
    const int32_t last_axis[1] = {-1};
    fanin_batch batch = FANIN_BATCH_INIT;
    fanin_output out = FANIN_OUTPUT_INIT;
    batch.shape = shape, batch.axis_count = 2, batch.along = last_axis, batch.along_count = 1;
    out.data = rows, out.count = 2;
    TRY(fanin_reduce_batch(FANIN_SUM, &in, &batch, &exact, &out, NULL));
    printf("rows %.17g %.17g\n", rows[0], rows[1]);
  }

  {
    unsigned char bytes[292];
    fanin_state *here, *there;
    in.count = 3;
    TRY(fanin_state_create(FANIN_SUM, FANIN_F64, &there));
    TRY(fanin_state_accumulate(there, &in, NULL, NULL, NULL));
    TRY(fanin_state_save(there, bytes, sizeof bytes)); /* these bytes may travel */
    fanin_state_destroy(there);

    in.x = x + 3;
    TRY(fanin_state_load(bytes, sizeof bytes, &here));
    TRY(fanin_state_accumulate(here, &in, NULL, NULL, NULL));
    TRY(fanin_state_finish(here, FANIN_SUM, FANIN_TYPE_DEFAULT, &merged));
    fanin_state_destroy(here);
    printf("sum %.17g from two parts\n", merged);
  }
  return total == 6 && rows[0] == 1 && rows[1] == 5 && merged == total ? 0 : 1;
}
