# SPDX-License-Identifier: BSD-3-Clause
# Install rules.
install(TARGETS tombolo_shared tombolo_static)
