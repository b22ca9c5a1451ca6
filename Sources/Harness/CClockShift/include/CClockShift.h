#ifndef CCLOCKSHIFT_H
#define CCLOCKSHIFT_H

#include <stdint.h>

/// The content of the file that CLOCK_SHIFT_FILE names: what is added to a process's clocks, in milliseconds.
typedef struct {
  int64_t realtime_ms;
  int64_t monotonic_ms;
  int64_t boottime_ms;
} clockshift_offsets;

#endif
