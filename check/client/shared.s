# SPDX-License-Identifier: BSD-3-Clause
#
# What is compiled may become part of a shared library.
#
# The assembler reads this file before inline.s: the variables of a thread have no fixed places in a
# library that is loaded while the program runs.

  .set .Ltombolo_check_shared, 1
