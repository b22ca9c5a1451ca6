#define _GNU_SOURCE
#include "CLinux.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>

void clinux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int clinux_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t data) {
  struct epoll_event event = {.events = events, .data = {.u64 = data}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

uint64_t clinux_epoll_data(const struct epoll_event *event) { return event->data.u64; }
