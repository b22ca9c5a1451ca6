#ifndef PUSHPOOL_CLINUX_H
#define PUSHPOOL_CLINUX_H

// What the Glibc module lacks: epoll and eventfd, and the calls that are macros or variadic.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <stdint.h>

/// Names the calling thread, so that `top -H` shows lanes by name (15 characters at most).
void clinux_name_thread(const char *name);

/// Accepts without blocking and with close-on-exec; -1 and errno as accept4(2).
int clinux_accept(int listener);

/// epoll_event.data is a union; these set and read its 64-bit member.
int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t data);
uint64_t clinux_epoll_data(const struct epoll_event *event);

#endif
