/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD for a test: buffers of datagram sockets are TMB_SOCKET_BYTES, whatever a program asks
 * for (the kernel has a least size of its own, about 2 KiB).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef int (*setsockopt_fn)(int, int, int, const void *, socklen_t);

int setsockopt(int fd, int level, int name, const void *value, socklen_t length) {
  setsockopt_fn real;
  const char *text = getenv("TMB_SOCKET_BYTES");
  void *found = dlsym(RTLD_NEXT, "setsockopt");
  memcpy(&real, &found, sizeof real);
  if (!text || level != SOL_SOCKET) return real(fd, level, name, value, length);
  const int bytes = atoi(text);
  if (name == SO_RCVBUF || name == SO_RCVBUFFORCE)
    return real(fd, level, SO_RCVBUF, &bytes, sizeof bytes);
  if (name == SO_SNDBUF || name == SO_SNDBUFFORCE)
    return real(fd, level, SO_SNDBUF, &bytes, sizeof bytes);
  return real(fd, level, name, value, length);
}
