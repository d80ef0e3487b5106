/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/ident.h: identification strings in every object file of a client (API reference 00,
 * section 14).
 *
 * Tools search an executable for `$GASNet<Key>: value $` (ident, strings) to learn how it was
 * compiled. One library serves all modes, so these strings come from the client's own objects: each
 * is a constant that neither the compiler nor the linker drops. Included by gasnetex.h (strings of
 * a job) and by gasnet_tools.h (strings of the tools), after the configuration macros. The library
 * itself defines GEXX_NO_IDENT, for the text would not be true of the client.
 */
#ifndef GEXX_IDENT_H
#define GEXX_IDENT_H

#ifdef __has_attribute
# if __has_attribute(__retain__)
#  define GEXX_IDENT_ATTR __attribute__((__used__, __retain__))
# endif
#endif
#ifndef GEXX_IDENT_ATTR
# define GEXX_IDENT_ATTR __attribute__((__used__))
#endif

/* One string; strings of one object are separated by what ends each. */
#define GEXX_IDENT_STR(key, value) "$GASNet" key ": " value " $\0"

#endif

#if defined(GASNET_CONFIG_STRING) && !defined(GEXX_IDENT_JOB) && !defined(GEXX_NO_IDENT)
#define GEXX_IDENT_JOB 1
/* clang-format off */
static const char gexx_ident_job[] GEXX_IDENT_ATTR =
    GEXX_IDENT_STR("Config", "(libgasnet.a) " GASNET_CONFIG_STRING)
    GEXX_IDENT_STR("ReleaseVersion", PLATFORM_STRINGIFY(GASNETI_RELEASE_VERSION))
    GEXX_IDENT_STR("BuildId", GASNETI_BUILD_ID)
    GEXX_IDENT_STR("ConfigureArgs", GASNETI_CONFIGURE_ARGS)
    GEXX_IDENT_STR("ConduitName", GASNET_CONDUIT_NAME_STR)
    GEXX_IDENT_STR("ThreadModel", "GASNET_" GEXX_THREAD_MODE_STR)
    GEXX_IDENT_STR("Segment", "GASNET_SEGMENT_FAST")
    GEXX_IDENT_STR("EXAPIVersion", PLATFORM_STRINGIFY(GEX_SPEC_VERSION_MAJOR) "."
                                   PLATFORM_STRINGIFY(GEX_SPEC_VERSION_MINOR))
    GEXX_IDENT_STR("APIVersion", "1")
    GEXX_IDENT_STR("CoreLibraryName", GASNET_CORE_NAME_STR)
    GEXX_IDENT_STR("CoreLibraryVersion", GASNET_CORE_VERSION_STR)
    GEXX_IDENT_STR("ExtendedLibraryName", GASNET_EXTENDED_NAME_STR)
    GEXX_IDENT_STR("ExtendedLibraryVersion", GASNET_EXTENDED_VERSION_STR)
    GEXX_IDENT_STR("DebugMode", GEXX_DEBUG_STR)
    GEXX_IDENT_STR("CompilerId", PLATFORM_COMPILER_IDSTR);
/* clang-format on */

/* The thread mode of this file, in a section where initialisation finds those of all files that are
 * linked into one executable or shared object. The linker names the bounds of the section. */
#ifdef __ELF__
# define GEXX_FILE_MODES 1
static const uint32_t gexx_file_mode GEXX_IDENT_ATTR
    __attribute__((__section__("gexx_file_modes"))) = GEXX_THREAD_MODE;
# ifdef __cplusplus
extern "C" {
# endif
extern const uint32_t __start_gexx_file_modes[] __attribute__((__weak__, __visibility__("hidden")));
extern const uint32_t __stop_gexx_file_modes[] __attribute__((__weak__, __visibility__("hidden")));
# ifdef __cplusplus
}
# endif
#endif
#endif

#if defined(GASNETT_CONFIG_STRING) && !defined(GEXX_IDENT_TOOLS) && !defined(GEXX_NO_IDENT)
#define GEXX_IDENT_TOOLS 1
/* clang-format off */
static const char gexx_ident_tools[] GEXX_IDENT_ATTR =
    GEXX_IDENT_STR("ToolsConfig", "(libgasnet_tools.a) " GASNETT_CONFIG_STRING)
    GEXX_IDENT_STR("ToolsReleaseVersion", PLATFORM_STRINGIFY(GASNETI_RELEASE_VERSION))
    GEXX_IDENT_STR("ToolsBuildId", GASNETI_BUILD_ID)
    GEXX_IDENT_STR("ToolsThreadModel", PLATFORM_STRINGIFY(GASNETT_THREAD_MODEL))
    GEXX_IDENT_STR("ToolsAPIVersion", PLATFORM_STRINGIFY(GASNETT_SPEC_VERSION_MAJOR) "."
                                      PLATFORM_STRINGIFY(GASNETT_SPEC_VERSION_MINOR))
    GEXX_IDENT_STR("ToolsSystemTuple", GASNETT_SYSTEM_TUPLE)
    GEXX_IDENT_STR("ToolsCompilerId", PLATFORM_COMPILER_IDSTR);
/* clang-format on */
#endif
