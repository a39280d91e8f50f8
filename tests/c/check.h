/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the C tests: a failed one prints its line, and main() returns the number of them. */
#ifndef FANIN_TESTS_C_CHECK_H
#define FANIN_TESTS_C_CHECK_H

#include <stdio.h>
#include <string.h>

#include <fanin/fanin.h>

static int failed_checks = 0;

#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++failed_checks, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition)))

/* Checks that `call` fails with the status and a sentence in which `words` occur. */
#define CHECK_FAILS(call, wanted, words)                                                    \
  do {                                                                                      \
    const fanin_status got = (call);                                                        \
    CHECK(got == (wanted));                                                                 \
    CHECK(strstr(fanin_last_error(), words) != NULL);                                       \
    if (strstr(fanin_last_error(), words) == NULL) fprintf(stderr, "%s\n", fanin_last_error()); \
  } while (0)

static inline fanin_input input_of(const void* x, uint64_t count, fanin_type type) {
  fanin_input in = FANIN_INPUT_INIT;
  in.x = x, in.count = count, in.type = type;
  return in;
}

#endif
