! SPDX-License-Identifier: BSD-3-Clause
! Characters of coindexed objects by accessors: gets, puts, substrings, from image to image.
! ranks: 1 2 3 4
! again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0
! since: 15
program words_of_images
  use check
  implicit none
  character(5) :: word[*]
  character(7) :: words(4)[*], seven
  character(20) :: long(3)[*], found(3)
  character(3), allocatable :: pieces(:)[:]
  character(7, kind=4) :: wide(3)[*]
  integer :: me, images, right, i
  me = this_image()
  images = num_images()
  right = mod(me, images) + 1
  allocate (pieces(3)[*])
  word = 'hello'
  long = ['abc', 'def', 'ghi']
  words = ['a', 'b', 'c', 'd']
  pieces = ['one', 'two', 'six']
  sync all
  seven = word[right]
  call expect(seven == 'hello' .and. word[right] == 'hello', 'scalar')
  found(1) = words(3)[right]
  call expect(found(1) == 'c', 'element')
  found = words(1:3)[right]
  call expect(all(found == ['a', 'b', 'c']), 'array')
  found = pieces(:)[right]
  call expect(all(found == ['one', 'two', 'six']), 'allocatable array')
  sync all
  word[right] = 'bye'
  words(2)[right](3:4) = 'xyz'
  words(3:4)[right] = ['12345678', 'abcdefgh']
  pieces(1)[right] = 'to'
  sync all
  call expect(word == 'bye' .and. words(2) == 'b xy' .and. pieces(1) == 'to', 'puts')
  call expect(all(words(3:4) == ['1234567', 'abcdefg']), 'puts that are cut')
  sync all
  wide = 4_'-------'
  sync all
  wide(:)[right] = long
  sync all
  call expect(all(wide == [4_'abc    ', 4_'def    ', 4_'ghi    ']), 'to another kind')
  word = 'image'
  words = ' '
  long = ['abc', 'def', 'ghi']
  sync all
  if (me == 1) then
    word[images] = long(2)[right]
    words(1:3)[images] = long(:)[right]
    words(4)[images] = word[right]
  end if
  sync all
  if (me == images) then
    i = mod(1, images) + 1
    call expect(word == 'def' .and. all(words(1:3) == ['abc', 'def', 'ghi']), 'between images')
    call expect(words(4) == merge('def  ', 'image', i == images), 'scalar between images')
  end if
  sync all
  call finish()
end program
