/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: the files of the page, as part of the command.
 *
 * Owns: the table of files. Called by page.c. Calls: nothing.
 * Invariants: the assembler reads the files when this file is compiled (TMB_VIEW_DIR is their
 * folder; cmake/TmbPrograms.cmake names them as dependencies of the object), so that an installed
 * command needs no other file. The page's scripts have no "</script" in them.
 */
#include "view/output.h"

#include <string.h>

#define ASSET(symbol, path)                                                                    \
 __asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"" TMB_VIEW_DIR "/" path "\"\n" #symbol \
         "_end:\n.byte 0\n.popsection\n");                                                     \
 extern const char symbol[], symbol##_end[]

ASSET(view_page_html, "page/page.html");
ASSET(view_page_css, "page/page.css");
ASSET(view_data_js, "page/data.js");
ASSET(view_lanes_js, "page/lanes.js");
ASSET(view_timeline_js, "page/timeline.js");
ASSET(view_tables_js, "page/tables.js");
ASSET(view_charts_js, "page/charts.js");
ASSET(view_page_js, "page/page.js");
ASSET(view_uplot_css, "vendor/uplot/uPlot.min.css");
ASSET(view_uplot_js, "vendor/uplot/uPlot.iife.min.js");
ASSET(view_uplot_license, "vendor/uplot/LICENSE");

static const struct view_asset assets[] = {
    {"page.html", view_page_html, view_page_html_end},
    {"page.css", view_page_css, view_page_css_end},
    {"data.js", view_data_js, view_data_js_end},
    {"lanes.js", view_lanes_js, view_lanes_js_end},
    {"timeline.js", view_timeline_js, view_timeline_js_end},
    {"tables.js", view_tables_js, view_tables_js_end},
    {"charts.js", view_charts_js, view_charts_js_end},
    {"page.js", view_page_js, view_page_js_end},
    {"uplot.css", view_uplot_css, view_uplot_css_end},
    {"uplot.js", view_uplot_js, view_uplot_js_end},
    {"uplot.license", view_uplot_license, view_uplot_license_end},
    {NULL, NULL, NULL},
};

const struct view_asset *view_asset(const char *name) {
  for (const struct view_asset *a = assets; a->name; a++)
    if (strcmp(a->name, name) == 0) return a;
  return NULL;
}
