! SPDX-License-Identifier: BSD-3-Clause
! Character coarrays: fixed and deferred length, arrays, padding and cutting.
! ranks: 1 3 8
! since: 12
! until: 14
program characters
  implicit none
  character(len=10) :: name[*]
  character(len=4), dimension(3), codimension[*] :: words
  character(len=:), allocatable :: s[:]
  character(kind=1,len=7), allocatable :: t(:)[:]
  integer :: me, n, i, r
  character(len=20) :: buf
  me = this_image(); n = num_images()
  write(name,'(a,i0)') 'image', me
  words = ['aa  ','bb  ','cc  ']
  words(2) = achar(64+me)
  allocate(character(len=5+n) :: s[*])
  s = repeat(achar(96+me), 3)
  allocate(t(0:2)[*])
  t(0) = 'x'; buf = name; t(1) = buf(1:6); t(2) = 'end'
  sync all
  r = mod(me,n)+1
  buf = name[r]
  if (trim(buf) /= 'image'//achar(48+r)) error stop 'name'
  if (words(2)[r] /= achar(64+r)) error stop 'words sub'
  if (len(s) /= 5+n) error stop 'len s'
  if (s[r] /= repeat(achar(96+r),3)) error stop 's'
  if (t(1)[r] /= 'image'//achar(48+r)) error stop 't1'
  buf = words(3)[r]//words(1)[r]
  if (buf /= 'cc  aa') error stop 'concat'
  sync all
  name[r] = "imageXY"
  sync all
  if (name /= 'imageXY') error stop 'substring put'
  words(:)[r] = 'longer than four'
  sync all
  if (any(words /= 'long')) error stop 'trunc'
  sync all
  words(1:2)[r] = ['z','y']
  t(0:2:2)[r] = ["xQQ","eQQ"]
  sync all
  if (words(1) /= 'z' .or. words(2) /= 'y') error stop 'pad'
  if (t(0) /= 'xQQ' .or. t(2) /= 'eQQ') error stop 'substring section'
end program
