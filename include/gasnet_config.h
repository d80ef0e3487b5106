/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet_config.h: versions and facts of this build, one plain `#define NAME value` on a line.
 *
 * Read by the headers, and by scripts with awk and grep, so each value is a number, a bare token or
 * a string on the same line. The installed copy names the build in GASNETI_BUILD_ID and
 * GASNETI_CONFIGURE_ARGS (cmake/install/layout.cmake.in). Includes nothing.
 */
#ifndef _GASNET_CONFIG_H
#define _GASNET_CONFIG_H

/* Page gasnet_release: release whose interface the library has.
 * Names: GASNET_RELEASE_VERSION_MAJOR: year of the release;
 * GASNET_RELEASE_VERSION_MINOR: month of the release;
 * GASNET_RELEASE_VERSION_PATCH: patch of the release;
 * GASNETI_RELEASE_VERSION: all three with points;
 * GASNETI_BUILD_ID: when and where the library was built;
 * GASNETI_CONFIGURE_ARGS: options of the build;
 * GASNETI_EX_SPEC_VERSION_MAJOR: version of the GASNet-EX specification;
 * GASNETI_EX_SPEC_VERSION_MINOR: the number behind the point;
 * GASNET_SOCKLEN_T: type of the length of a socket address
 * See: gasnet_config */

/* clang-format off */
/* The release of the existing implementation whose interface is provided. */
#define GASNET_RELEASE_VERSION_MAJOR 2025
#define GASNET_RELEASE_VERSION_MINOR 8
#define GASNET_RELEASE_VERSION_PATCH 0
#define GASNETI_RELEASE_VERSION 2025.8.0

/* The specification, for scripts; programs read GEX_SPEC_VERSION_MAJOR and _MINOR. */
#define GASNETI_EX_SPEC_VERSION_MAJOR 0
#define GASNETI_EX_SPEC_VERSION_MINOR 19

/* Description of the build. */
#define GASNETI_BUILD_ID "source tree"
#define GASNETI_CONFIGURE_ARGS ""

/* Type of the length of a socket address. */
#define GASNET_SOCKLEN_T socklen_t
/* clang-format on */

#endif
