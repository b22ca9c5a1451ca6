#ifndef PUSHPOOL_CLINUX_H
#define PUSHPOOL_CLINUX_H

// What the Glibc module lacks: epoll, eventfd, timerfd, mallopt, malloc_trim, and the calls that are macros or variadic.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <malloc.h>
#include <stdint.h>

/// Names the calling thread, so that `top -H` shows lanes by name (15 characters at most).
void clinux_name_thread(const char *name);

/// Accepts without blocking and with close-on-exec; -1 and errno as accept4(2).
int clinux_accept(int listener);

/// epoll_event.data is a union; these set and read its 64-bit member.
int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t data);
int clinux_epoll_change(int epoll, int descriptor, uint32_t events, uint64_t data);
int clinux_epoll_remove(int epoll, int descriptor);
uint64_t clinux_epoll_data(const struct epoll_event *event);

/// epoll_wait(2). Headers of glibc 2.41 call its buffer nonnull and earlier ones do not, which gives it another
/// type in Swift.
int clinux_epoll_wait(int epoll, struct epoll_event *events, int count, int timeout_ms);

/// Whether the signal's disposition is SIG_IGN, which Swift cannot compare with.
int clinux_is_ignored(int signal);

/// Raises the soft limit of open files to the hard one. What holds then, or 0 when that is not known; the resources are
/// enumerators of another type in each C library's Swift module.
uint64_t clinux_raise_descriptors_max(void);

/// How many CPUs the calling thread may run on (sched_getaffinity(2)), or 0 when that is not known; sets of CPUs are macros.
int clinux_cpus_allowed(void);

// Child processes and folders (LocalServices).
#include <sys/types.h>

/// What clinux_spawn starts. Descriptors of -1 are inherited; a null environment is the owner's.
struct clinux_spawn {
  const char *path;
  char *const *arguments;
  char *const *environment;
  const char *folder;
  int input;
  int output;
  int error;
  /// Sent to the child when the *thread* that called clinux_spawn ends; 0 = none.
  int death_signal;
};

/// fork and execve with PR_SET_PDEATHSIG, which posix_spawn cannot set. The pid, or -1 and errno,
/// also when execve failed.
pid_t clinux_spawn(const struct clinux_spawn *spawn);

/// Removes a folder and all below it, following no symbolic link; -1 when something is left.
int clinux_remove_tree(const char *path);

/// A pipe whose ends (reading, writing) are close-on-exec; Glibc's overlay has no pipe2(2).
int clinux_pipe(int ends[2]);

#endif
