/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots, see output.h.
 *
 * Owns: the open file for the time of one call. Called by hydro.c. Calls: links.h, POSIX files,
 * libpng.
 */
#define _GNU_SOURCE
#include "output.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef TMB_HAVE_PNG
# include <png.h>
#endif

enum { NAMED = 3, TITLE = 256 };
static const struct {
  const char *name;
  enum quantity field;
} written[NAMED] = {{"density", DENSITY}, {"energy", ENERGY}, {"pressure", PRESSURE}};

/* What precedes the numbers of a field; for the first one the head of the file too. */
static int title(const struct grid *g, int field, char text[TITLE]) {
  int n = 0;
  if (field == 0)
    n = snprintf(text, TITLE,
                 "# vtk DataFile Version 3.0\nTombolo hydro\nBINARY\nDATASET STRUCTURED_POINTS\n"
                 "DIMENSIONS %ld %ld 1\nORIGIN 0 0 0\nSPACING %.9g %.9g 1\nCELL_DATA %ld\n",
                 g->all_x + 1, g->all_y + 1, g->dx, g->dy, g->all_x * g->all_y);
  return n + snprintf(text + n, (size_t)(TITLE - n), "%sSCALARS %s float 1\nLOOKUP_TABLE default\n",
                      field ? "\n" : "", written[field].name);
}

static bool put(int fd, const void *data, size_t bytes, off_t offset) {
  return pwrite(fd, data, bytes, offset) == (ssize_t)bytes;
}

/* Lines of this rank of one field, the first number of which lies at `offset`. */
static bool put_lines(int fd, const struct grid *g, enum quantity field, off_t offset) {
  uint32_t *const line = malloc((size_t)g->nx * sizeof *line);
  if (!line) return false;
  bool good = true;
  for (long j = 0; good && j < g->ny; j++) {
    for (long i = 0; i < g->nx; i++) {
      const float value = (float)g->q[field][at(g, i, j)];
      memcpy(&line[i], &value, sizeof value);
      line[i] = htobe32(line[i]);
    }
    const off_t before = ((g->y0 + j) * g->all_x + g->x0) * (off_t)sizeof *line;
    good = put(fd, line, (size_t)g->nx * sizeof *line, offset + before);
  }
  free(line);
  return good;
}

static bool put_vtk(const struct job *job, const struct grid *g, const char *path) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  off_t offset = 0;
  bool good = true;
  for (int f = 0; good && f < NAMED; f++) {
    char text[TITLE];
    const int bytes = title(g, f, text);
    if (job->rank == 0) good = put(fd, text, (size_t)bytes, offset);
    offset += bytes;
    good = good && put_lines(fd, g, written[f].field, offset);
    offset += g->all_x * g->all_y * (off_t)sizeof(uint32_t);
  }
  if (good && job->rank == 0) good = ftruncate(fd, offset) == 0; /* of an older file */
  return close(fd) == 0 && good;
}

#ifdef TMB_HAVE_PNG
/* From dark blue through red to white. */
static void colour(double share, uint8_t rgb[3]) {
  static const double stop[5][3] = {
      {8, 12, 60}, {40, 90, 180}, {200, 60, 60}, {250, 180, 60}, {255, 255, 240}};
  const double x = share <= 0 ? 0 : share >= 1 ? 4 : 4 * share;
  const int k = x >= 4 ? 3 : (int)x;
  for (int c = 0; c < 3; c++)
    rgb[c] = (uint8_t)(stop[k][c] + (x - k) * (stop[k + 1][c] - stop[k][c]));
}

static bool put_image(const char *path, const struct grid *g, const uint8_t *pixels) {
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)g->all_x,
                     .height = (png_uint_32)g->all_y,
                     .format = PNG_FORMAT_RGB};
  return png_image_write_to_file(&image, path, 0, pixels, 0, NULL) != 0;
}

/* Draw the density, the first field of the VTK file. */
static bool put_png(const struct grid *g, const char *vtk, const char *path) {
  char text[TITLE];
  const size_t count = (size_t)(g->all_x * g->all_y);
  uint32_t *const raw = malloc(count * sizeof *raw);
  uint8_t *const pixels = malloc(count * 3);
  const int fd = open(vtk, O_RDONLY | O_CLOEXEC);
  bool good =
      raw && pixels && fd >= 0 &&
      pread(fd, raw, count * sizeof *raw, title(g, 0, text)) == (ssize_t)(count * sizeof *raw);
  if (fd >= 0) close(fd);
  if (good) {
    float *const value = (float *)(void *)raw;
    float low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
      raw[i] = be32toh(raw[i]);
      low = fminf(low, value[i]);
      high = fmaxf(high, value[i]);
    }
    for (size_t i = 0; i < count; i++) { /* the first line of an image is the top */
      const size_t x = i % (size_t)g->all_x, y = (size_t)g->all_y - 1 - i / (size_t)g->all_x;
      colour(high > low ? (value[i] - low) / (high - low) : 0,
             pixels + 3 * (y * (size_t)g->all_x + x));
    }
    good = put_image(path, g, pixels);
  }
  free(raw);
  free(pixels);
  return good;
}
#endif

void output_write(struct job *job, const struct grid *g, const char *prefix, long step) {
  char vtk[4096], png[4096];
  snprintf(vtk, sizeof vtk, "%s.%06ld.vtk", prefix, step);
  snprintf(png, sizeof png, "%s.%06ld.png", prefix, step);
  errno = 0;
  const bool good = put_vtk(job, g, vtk);
  const int reason = errno;
  if (job_sum(job, good ? 0 : 1) != 0)
    job_refuse(job, "cannot write %s: %s; give another --output", vtk,
               good ? "another rank failed" : strerror(reason));
#ifdef TMB_HAVE_PNG
  const bool drawn = job->rank || put_png(g, vtk, png);
  if (job_sum(job, drawn ? 0 : 1) != 0)
    job_refuse(job, "cannot write %s; give another --output", png);
#endif
}
