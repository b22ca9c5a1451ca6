// A library for LD_PRELOAD that gives one process clocks of its own: what it reads of them is shifted by what stands
// in a file, which a test changes while the process runs. The kernel's waits are not shifted.
#define _GNU_SOURCE
#include "CClockShift.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static const volatile clockshift_offsets *offsets;

__attribute__((constructor)) static void prepare(void) {
  real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("CLOCK_SHIFT_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *memory = mmap(NULL, sizeof(clockshift_offsets), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) offsets = memory;
}

static int64_t shift_of(clockid_t clock) {
  if (!offsets) return 0;
  switch (clock) {
  case CLOCK_REALTIME:
  case CLOCK_REALTIME_COARSE:
    return offsets->realtime_ms;
  case CLOCK_MONOTONIC:
  case CLOCK_MONOTONIC_COARSE:
  case CLOCK_MONOTONIC_RAW:
    return offsets->monotonic_ms;
  case CLOCK_BOOTTIME:
    return offsets->boottime_ms;
  default:
    return 0;
  }
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  // Before the constructor has run, as when another library's asks for the time.
  if (!real_clock_gettime) prepare();
  int result = real_clock_gettime(clock, time);
  if (result != 0) return result;
  int64_t ms = shift_of(clock);
  int64_t ns = time->tv_nsec + ms % 1000 * 1000000;
  time->tv_sec += ms / 1000 + (ns >= 1000000000) - (ns < 0);
  time->tv_nsec = ns < 0 ? ns + 1000000000 : ns >= 1000000000 ? ns - 1000000000 : ns;
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds) *seconds = now.tv_sec;
  return now.tv_sec;
}
