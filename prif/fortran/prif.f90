! SPDX-License-Identifier: BSD-3-Clause
! The module that programs use. It has no procedure of its own: symbols of procedures of a module
! `prif` are what flang calls by a convention of its own, and prif/flang defines them.
module prif
  use tombolo_prif
  implicit none
  public
end module
