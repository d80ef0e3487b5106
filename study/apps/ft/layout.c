/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process grids can hold a class, and what each rank of one holds. See layout.h for the
 * distributions. Called by main (choice and refusal of grids) and by everything that needs local
 * sizes. Pure arithmetic. A grid is possible iff TY divides nx and ny, TZ divides ny and nz: those
 * are the cuts of the three distributions.
 */
#include "layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool divides(const struct ft_class *class, int ty, int tz) {
  return class->n[0] % ty == 0 && class->n[1] % ty == 0 && class->n[1] % tz == 0 &&
         class->n[2] % tz == 0;
}

bool ft_layout_possible(const struct ft_class *class, int ty, int tz, int ranks, char *reason,
                        size_t bytes) {
  if ((long)ty * tz != ranks) {
    snprintf(reason, bytes, "grid %dx%d has %ld places, but the job has %d rank%s", ty, tz,
             (long)ty * tz, ranks, ranks == 1 ? "" : "s");
    return false;
  }
  if (divides(class, ty, tz)) return true;
  if (class->n[0] % ty != 0 || class->n[1] % ty != 0)
    snprintf(reason, bytes, "grid %dx%d: TY = %d must divide nx = %d and ny = %d", ty, tz, ty,
             class->n[0], class->n[1]);
  else
    snprintf(reason, bytes, "grid %dx%d: TZ = %d must divide ny = %d and nz = %d", ty, tz, tz,
             class->n[1], class->n[2]);
  return false;
}

bool ft_layout_choose(const struct ft_class *class, int ranks, int *ty, int *tz) {
  int best = 0;
  for (int y = 1; y <= ranks; y++) {
    if (ranks % y != 0 || !divides(class, y, ranks / y)) continue;
    if (y == 1 || best == 0 || abs(y - ranks / y) < abs(best - ranks / best)) best = y;
    if (y == 1) break;
  }
  if (best == 0) return false;
  *ty = best;
  *tz = ranks / best;
  return true;
}

/* Appends to a bounded string; what does not fit is cut. */
static void append(char *text, size_t bytes, const char *word) {
  size_t used = strlen(text);
  if (used < bytes) snprintf(text + used, bytes - used, "%s", word);
}

void ft_layout_advise(const struct ft_class *class, int ranks, char *text, size_t bytes) {
  char word[48];
  text[0] = '\0';
  for (int y = 1; y <= ranks; y++) {
    if (ranks % y != 0 || !divides(class, y, ranks / y)) continue;
    snprintf(word, sizeof word, "%s%dx%d", text[0] ? " " : "possible grids: ", y, ranks / y);
    append(text, bytes, word);
  }
  if (text[0]) return;
  snprintf(text, bytes,
           "no grid of %d ranks divides class %c; possible rank counts up to 64:", ranks,
           class->name);
  for (int count = 1; count <= 64; count++) {
    int y, z;
    if (!ft_layout_choose(class, count, &y, &z)) continue;
    snprintf(word, sizeof word, " %d", count);
    append(text, bytes, word);
  }
}

void ft_layout_init(struct ft_layout *layout, const struct ft_class *class, int ty, int tz,
                    int rank) {
  *layout = (struct ft_layout){.n = {class->n[0], class->n[1], class->n[2]}, .ty = ty, .tz = tz};
  layout->my_ty = rank % ty;
  layout->my_tz = rank / ty;
  layout->nx = class->n[0] / ty;
  layout->x0 = layout->my_ty * layout->nx;
  layout->ny_x = class->n[1] / ty;
  layout->y0_x = layout->my_ty * layout->ny_x;
  layout->ny_z = class->n[1] / tz;
  layout->y0_z = layout->my_tz * layout->ny_z;
  layout->nz = class->n[2] / tz;
  layout->z0 = layout->my_tz * layout->nz;
  layout->points = (size_t)layout->n[0] * (size_t)layout->ny_x * (size_t)layout->nz;
}
