#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>

void clinux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int clinux_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t data) {
  struct epoll_event event = {.events = events, .data = {.u64 = data}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int clinux_epoll_change(int epoll, int descriptor, uint32_t events, uint64_t data) {
  struct epoll_event event = {.events = events, .data = {.u64 = data}};
  return epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
}

int clinux_epoll_remove(int epoll, int descriptor) {
  return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

uint64_t clinux_epoll_data(const struct epoll_event *event) { return event->data.u64; }

int clinux_epoll_wait(int epoll, struct epoll_event *events, int count, int timeout_ms) {
  return epoll_wait(epoll, events, count, timeout_ms);
}

int clinux_is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

uint64_t clinux_raise_descriptors_max(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return before < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) != 0 ? before : limit.rlim_cur;
}

int clinux_cpus_allowed(void) {
  // The kernel refuses a set that is smaller than its own.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (set == NULL) return 0;
    size_t size = CPU_ALLOC_SIZE(cpus);
    int failed = sched_getaffinity(0, size, set);
    int count = failed ? 0 : CPU_COUNT_S(size, set);
    int code = errno;
    CPU_FREE(set);
    if (!failed) return count;
    if (code != EINVAL) return 0;
  }
  return 0;
}

// Child processes and folders (LocalServices).

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// Only async-signal-safe calls from here on: the parent has other threads.
static void exec_child(const struct clinux_spawn *spawn, pid_t parent, int report) {
  // A group of its own: Ctrl-C in the terminal reaches the owner, which ends its children in order.
  setpgid(0, 0);
  if (spawn->death_signal != 0) {
    if (prctl(PR_SET_PDEATHSIG, spawn->death_signal) != 0) goto failed;
    if (getppid() != parent) _exit(127);  // the owner died before prctl
  }
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (spawn->input >= 0 && dup2(spawn->input, 0) < 0) goto failed;
  if (spawn->output >= 0 && dup2(spawn->output, 1) < 0) goto failed;
  if (spawn->error >= 0 && dup2(spawn->error, 2) < 0) goto failed;
  // A kernel without it (before 5.11) relies on every descriptor being close-on-exec already.
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (spawn->folder != NULL && chdir(spawn->folder) != 0) goto failed;
  execve(spawn->path, spawn->arguments,
         spawn->environment != NULL ? spawn->environment : environ);
failed:;
  int number = errno;
  (void)!write(report, &number, sizeof number);
  _exit(127);
}

pid_t clinux_spawn(const struct clinux_spawn *spawn) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -1;
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) exec_child(spawn, parent, report[1]);
  int number = child < 0 ? errno : 0;
  close(report[1]);
  if (child > 0) {
    ssize_t count;
    do count = read(report[0], &number, sizeof number);
    while (count < 0 && errno == EINTR);
    if (count == (ssize_t)sizeof number) {
      while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
      }
      child = -1;
    }
  }
  close(report[0]);
  errno = number;
  return child;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status, (void)kind, (void)walk;
  remove(path);
  return 0;  // what cannot be removed must not stop the rest
}

int clinux_remove_tree(const char *path) {
  nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  return access(path, F_OK) == 0 ? -1 : 0;
}

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
