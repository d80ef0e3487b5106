! SPDX-License-Identifier: BSD-3-Clause
! FORM TEAM that is refused on images 1 and 2: the others get their team, and nobody waits.
! ranks: 3 4
! again: TOMBOLO_TEST_SHM=0
program form_refused
  use, intrinsic :: iso_c_binding
  use prif
  use check
  implicit none
  integer :: round
  call begin()
  do round = 1, 3
    call refused_round(round)
  end do
  call finish()
contains
  subroutine refused_round(round)
    integer, intent(in) :: round
    type(prif_team_type) :: team
    character(200) :: text
    integer(c_int) :: stat
    text = ''
    stat = -1
    if (this > 2) then
      call prif_form_team(2_c_int64_t, team, stat=stat, errmsg=text)
    else if (round == 1 .and. this == 1) then
      call prif_form_team(1_c_int64_t, team, new_index=99_c_int, stat=stat, errmsg=text)
      call expect(index(text, 'NEW_INDEX=99') > 0, 'index beyond the team: '//trim(text))
    else if (round == 1) then
      call prif_form_team(1_c_int64_t, team, stat=stat, errmsg=text)
    else if (round == 2) then
      call prif_form_team(1_c_int64_t, team, new_index=1_c_int, stat=stat, errmsg=text)
      call expect(index(text, 'NEW_INDEX=') > 0, 'one index twice: '//trim(text))
    else
      call prif_form_team(int(-this, c_int64_t), team, stat=stat, errmsg=text)
      call expect(index(text, 'positive') > 0, 'negative number: '//trim(text))
    end if
    call expect((stat == 0) .eqv. (this > 2), 'stat')
    if (this > 2) call use_team(team)
    call expect(sum_of_ones() == images, 'all images afterwards')
  end subroutine

  subroutine use_team(team)
    type(prif_team_type), intent(in) :: team
    call prif_change_team(team)
    call expect(sum_of_ones() == images - 2, 'the other team')
    call prif_end_team()
  end subroutine

  integer(c_int) function sum_of_ones() result(n)
    n = 1
    call prif_co_sum(n)
  end function
end program
