! SPDX-License-Identifier: BSD-3-Clause
!
! Compressible hydrodynamics in two dimensions in coarray Fortran: the solver of hydro.c, with the
! exchange of halos by remote assignments and the synchronisation of the language.
!
! Usage: hydro-caf [CELLS_X CELLS_Y STEPS [blast|tube|corner [FORM]]] or --help. Forms: `all`, sync all;
! `images`, sync images with the neighbours; `events`, event post and event wait; `attached`, events
! attached to the halos, so that the assignment itself posts (not with -DPEER, which other runtimes
! are compiled with). Each form prints its time for a step, where that of one more went, and whether mass and energy are kept and
! the blast stays symmetric: VERIFIED or FAILED (exit code 1). See kernels.h for the method and its
! sources. A halo lies in memory twice, by parity of the exchange: a neighbour can be one exchange
! ahead, not two, because it needs this image's halos.
module hydro_grid
  use, intrinsic :: iso_fortran_env, only: real64, int64, event_type
  implicit none
  integer, parameter :: dp = real64, ghost = 2, sides = 8
  real(dp), parameter :: gamma = 1.4_dp
  integer, parameter :: side_x(sides) = [-1, 1, 0, 0, -1, 1, -1, 1]
  integer, parameter :: side_y(sides) = [0, 0, -1, 1, -1, -1, 1, 1]
  integer, parameter :: opposite(sides) = [2, 1, 4, 3, 8, 7, 6, 5]
  ! What an array is on: cells, lines in x, lines in y; and the sign of its mirror image at a wall.
  integer, parameter :: rho_f = 1, e_f = 2, m_f = 3, u_f = 4, v_f = 5, fx_f = 6, fy_f = 7
  integer, parameter :: lines_x(7) = [0, 0, 0, 1, 1, 1, 0], lines_y(7) = [0, 0, 0, 1, 1, 0, 1]
  integer, parameter :: turns_x(7) = [0, 0, 0, 1, 0, 1, 0], turns_y(7) = [0, 0, 0, 0, 1, 0, 1]
  integer, parameter :: form_all = 1, form_images = 2, form_events = 3, form_attached = 4
  character(8), parameter :: form_name(4) = ['all     ', 'images  ', 'events  ', 'attached']

  integer :: all_x, all_y, ranks_x, ranks_y, rank_x, rank_y, x0, y0, nx, ny
  real(dp) :: dx, dy, now, step
  ! The quantities of hydro.c; f(:, :, k) are those that are exchanged.
  real(dp), allocatable :: f(:, :, :)
  real(dp), allocatable, dimension(:, :) :: p, q, c, work, volx, voly, node, px, py, kin, heat
  real(dp), allocatable :: packed(:, :), halo(:, :, :)[:]
  type(event_type) :: arrived(sides)[*]
  integer :: neighbour(sides), exchanges, form
end module hydro_grid

module hydro_halo
  use hydro_grid
  use app_caf, only: app_enter, app_compute, app_move, app_send, app_wait
  implicit none
contains
  ! First and last index of what goes to, or comes from, direction d in a dimension of n cells.
  pure function outgoing(d, n, depth, lines) result(r)
    integer, intent(in) :: d, n, depth, lines
    integer :: r(2)
    if (d < 0) then
      r = [lines, lines + depth - 1]
    else if (d > 0) then
      r = [n - depth, n - 1]
    else
      r = [0, n + lines - 1]
    end if
  end function

  pure function incoming(d, n, depth, lines) result(r)
    integer, intent(in) :: d, n, depth, lines
    integer :: r(2)
    if (d < 0) then
      r = [-depth, -1]
    else if (d > 0) then
      r = [n + lines, n + lines + depth - 1]
    else
      r = [0, n + lines - 1]
    end if
  end function

  ! Pack the part of the fields at side s into packed(:, s). Returns how many numbers.
  integer function pack_side(fields, depth, s) result(at)
    integer, intent(in) :: fields(:), depth, s
    integer :: k, x(2), y(2), j
    at = 0
    do k = 1, size(fields)
      x = outgoing(side_x(s), nx, depth, lines_x(fields(k)))
      y = outgoing(side_y(s), ny, depth, lines_y(fields(k)))
      do j = y(1), y(2)
        packed(at + 1:at + x(2) - x(1) + 1, s) = f(x(1):x(2), j, fields(k))
        at = at + x(2) - x(1) + 1
      end do
    end do
  end function

  subroutine unpack_side(fields, depth, s, parity)
    integer, intent(in) :: fields(:), depth, s, parity
    integer :: k, x(2), y(2), j, at
    at = 0
    do k = 1, size(fields)
      x = incoming(side_x(s), nx, depth, lines_x(fields(k)))
      y = incoming(side_y(s), ny, depth, lines_y(fields(k)))
      do j = y(1), y(2)
        f(x(1):x(2), j, fields(k)) = halo(at + 1:at + x(2) - x(1) + 1, parity, s)
        at = at + x(2) - x(1) + 1
      end do
    end do
  end subroutine

  ! Ghosts beyond the walls that this image has: mirror images.
  subroutine walls(k)
    integer, intent(in) :: k
    integer :: g
    real(dp) :: sign
    sign = merge(-1.0_dp, 1.0_dp, turns_x(k) == 1)
    if (rank_x == 0) then
      if (turns_x(k) == 1) f(0, :, k) = 0
      do g = 1, ghost
        f(-g, :, k) = sign * f(g - 1 + lines_x(k), :, k)
      end do
    end if
    if (rank_x == ranks_x - 1) then
      if (turns_x(k) == 1) f(nx, :, k) = 0
      do g = 1, ghost
        f(nx - 1 + lines_x(k) + g, :, k) = sign * f(nx - g, :, k)
      end do
    end if
    sign = merge(-1.0_dp, 1.0_dp, turns_y(k) == 1)
    if (rank_y == 0) then
      if (turns_y(k) == 1) f(:, 0, k) = 0
      do g = 1, ghost
        f(:, -g, k) = sign * f(:, g - 1 + lines_y(k), k)
      end do
    end if
    if (rank_y == ranks_y - 1) then
      if (turns_y(k) == 1) f(:, ny, k) = 0
      do g = 1, ghost
        f(:, ny - 1 + lines_y(k) + g, k) = sign * f(:, ny - g, k)
      end do
    end if
  end subroutine

  subroutine exchange(fields, depth)
    integer, intent(in) :: fields(:), depth
    integer :: s, n, o, parity
    exchanges = exchanges + 1
    parity = mod(exchanges, 2)
    do s = 1, sides
      if (neighbour(s) == 0) cycle
      call app_enter(app_move)
      n = pack_side(fields, depth, s)
      call app_enter(app_send)
      halo(1:n, parity, opposite(s))[neighbour(s)] = packed(1:n, s)
      if (form == form_events) then
        o = opposite(s) ! gfortran 12 does not compile event post (arrived(opposite(s))[...])
        event post (arrived(o)[neighbour(s)])
      end if
    end do
    call app_enter(app_wait)
    if (form == form_all) then
      sync all
    else if (form == form_images) then
      sync images (pack(neighbour, neighbour > 0))
    end if
    do s = 1, sides
      if (neighbour(s) == 0) cycle
      if (form >= form_events) then
        call app_enter(app_wait)
        event wait (arrived(s))
      end if
      call app_enter(app_move)
      call unpack_side(fields, depth, s, parity)
    end do
    call app_enter(app_compute)
    call all_walls(fields)
  end subroutine

  subroutine all_walls(fields)
    integer, intent(in) :: fields(:)
    integer :: k
    do k = 1, size(fields)
      call walls(fields(k))
    end do
  end subroutine
end module hydro_halo

module hydro_kernels
  use hydro_grid
  implicit none
  real(dp), parameter :: linear = 0.5_dp, quadratic = 2, courant = 0.4_dp
contains
  ! Jump of velocity across cell (i, j) where it is compressed.
  pure real(dp) function jump(i, j)
    integer, intent(in) :: i, j
    real(dp) :: du, dv, change
    du = 0.5_dp * ((f(i + 1, j, u_f) + f(i + 1, j + 1, u_f)) - (f(i, j, u_f) + f(i, j + 1, u_f)))
    dv = 0.5_dp * ((f(i, j + 1, v_f) + f(i + 1, j + 1, v_f)) - (f(i, j, v_f) + f(i + 1, j, v_f)))
    change = (du / dx + dv / dy) * min(dx, dy)
    jump = max(-change, 0.0_dp)
  end function

  subroutine state()
    integer :: i, j
    real(dp) :: d
    do j = -ghost, ny + ghost - 1
      do i = -ghost, nx + ghost - 1
        d = jump(i, j)
        p(i, j) = (gamma - 1) * f(i, j, rho_f) * f(i, j, e_f)
        c(i, j) = sqrt(gamma * p(i, j) / f(i, j, rho_f))
        q(i, j) = f(i, j, rho_f) * d * (linear * c(i, j) + quadratic * d)
        f(i, j, m_f) = f(i, j, rho_f) * (dx * dy)
      end do
    end do
  end subroutine

  real(dp) function stable_step()
    integer :: i, j
    real(dp) :: wave, fastest
    fastest = 0
    do j = 0, ny - 1
      do i = 0, nx - 1
        wave = sqrt(c(i, j)**2 + 2 * q(i, j) / f(i, j, rho_f)) + 2 * jump(i, j)
        fastest = max(fastest, (wave + maxval(abs(f(i:i + 1, j:j + 1, u_f)))) / dx, &
                      (wave + maxval(abs(f(i:i + 1, j:j + 1, v_f)))) / dy)
      end do
    end do
    stable_step = courant / fastest
  end function

  ! Volume that x face (i, j), y face (i, j) sweeps in dt.
  pure real(dp) function swept_x(i, j, dt)
    integer, intent(in) :: i, j
    real(dp), intent(in) :: dt
    swept_x = dt * dy * 0.5_dp * (f(i, j, u_f) + f(i, j + 1, u_f))
  end function

  pure real(dp) function swept_y(i, j, dt)
    integer, intent(in) :: i, j
    real(dp), intent(in) :: dt
    swept_y = dt * dx * 0.5_dp * (f(i, j, v_f) + f(i + 1, j, v_f))
  end function

  ! Pressure at half of the step, with the viscosity: what acts on nodes.
  subroutine predict(dt)
    real(dp), intent(in) :: dt
    integer :: i, j
    real(dp) :: grown, e
    do j = -ghost, ny + ghost - 1
      do i = -ghost, nx + ghost - 1
        grown = (swept_x(i + 1, j, dt / 2) - swept_x(i, j, dt / 2)) + &
                (swept_y(i, j + 1, dt / 2) - swept_y(i, j, dt / 2))
        e = f(i, j, e_f) - (p(i, j) + q(i, j)) * grown / f(i, j, m_f)
        work(i, j) = (gamma - 1) * f(i, j, m_f) / (dx * dy + grown) * e + q(i, j)
      end do
    end do
  end subroutine

  ! Mass of the dual cell of each node of depth 1.
  subroutine node_masses()
    integer :: i, j
    do j = -1, ny + 1
      do i = -1, nx + 1
        node(i, j) = 0.25_dp * ((f(i - 1, j - 1, m_f) + f(i, j - 1, m_f)) + &
                                (f(i - 1, j, m_f) + f(i, j, m_f)))
      end do
    end do
  end subroutine

  ! Change of velocity of nodes of depth 1, into px and py.
  subroutine accelerate(dt)
    real(dp), intent(in) :: dt
    integer :: i, j
    do j = -1, ny + 1
      do i = -1, nx + 1
        px(i, j) = dt * 0.5_dp * dy * ((work(i - 1, j - 1) + work(i - 1, j)) - &
                                       (work(i, j - 1) + work(i, j))) / node(i, j)
        py(i, j) = dt * 0.5_dp * dx * ((work(i - 1, j - 1) + work(i, j - 1)) - &
                                       (work(i - 1, j) + work(i, j))) / node(i, j)
      end do
    end do
  end subroutine

  subroutine lagrange(dt)
    real(dp), intent(in) :: dt
    integer :: i, j
    real(dp) :: grown
    call predict(dt)
    call node_masses()
    call accelerate(dt)
    f(-1:nx + 1, -1:ny + 1, u_f) = f(-1:nx + 1, -1:ny + 1, u_f) + 0.5_dp * px(-1:nx + 1, -1:ny + 1)
    f(-1:nx + 1, -1:ny + 1, v_f) = f(-1:nx + 1, -1:ny + 1, v_f) + 0.5_dp * py(-1:nx + 1, -1:ny + 1)
    do j = -1, ny + 1
      do i = -1, nx + 1
        volx(i, j) = swept_x(i, j, dt) ! by the mean velocity
        voly(i, j) = swept_y(i, j, dt)
      end do
    end do
    f(-1:nx + 1, -1:ny + 1, u_f) = f(-1:nx + 1, -1:ny + 1, u_f) + 0.5_dp * px(-1:nx + 1, -1:ny + 1)
    f(-1:nx + 1, -1:ny + 1, v_f) = f(-1:nx + 1, -1:ny + 1, v_f) + 0.5_dp * py(-1:nx + 1, -1:ny + 1)
    do j = 0, ny - 1
      do i = 0, nx - 1
        grown = (volx(i + 1, j) - volx(i, j)) + (voly(i, j + 1) - voly(i, j))
        f(i, j, e_f) = f(i, j, e_f) - work(i, j) * grown / f(i, j, m_f)
        f(i, j, rho_f) = f(i, j, m_f) / (dx * dy + grown)
      end do
    end do
  end subroutine

  ! Value at what leaves a cell, of which it is the share `part`, from its neighbours' values.
  pure real(dp) function carried(here, ahead, behind, part)
    real(dp), intent(in) :: here, ahead, behind, part
    real(dp) :: product
    product = (ahead - here) * (here - behind)
    carried = here
    if (product > 0) carried = here + (1 - part) * product / ((ahead - here) + (here - behind))
  end function

  pure real(dp) function from_field(k, i, j, sx, sy, part)
    integer, intent(in) :: k, i, j, sx, sy
    real(dp), intent(in) :: part
    from_field = carried(f(i, j, k), f(i + sx, j + sy, k), f(i - sx, j - sy, k), part)
  end function

  ! Carry cells' contents across faces: in x (ax = 1, ay = 0) or in y; `first` of two sweeps.
  subroutine remap_cells(ax, ay, first)
    integer, intent(in) :: ax, ay
    logical, intent(in) :: first
    integer :: i, j, k, di, dj, s
    real(dp) :: swept, before, flux
    k = merge(fx_f, fy_f, ax == 1)
    call node_masses()
    do j = 0, ny - 1 + ay
      do i = 0, nx - 1 + ax
        swept = merge(volx(i, j), voly(i, j), ax == 1)
        s = merge(1, -1, swept > 0)
        di = i - merge(ax, 0, s > 0)
        dj = j - merge(ay, 0, s > 0)
        flux = swept * from_field(rho_f, di, dj, s * ax, s * ay, &
                                  abs(swept) / volume(di, dj, ax, first, .true.))
        f(i, j, k) = flux
        heat(i, j) = flux * from_field(e_f, di, dj, s * ax, s * ay, abs(flux) / f(di, dj, m_f))
      end do
    end do
    do j = 0, ny - 1
      do i = 0, nx - 1
        before = f(i, j, m_f)
        f(i, j, m_f) = before + (f(i, j, k) - f(i + ax, j + ay, k))
        f(i, j, e_f) = (before * f(i, j, e_f) + (heat(i, j) - heat(i + ax, j + ay))) / f(i, j, m_f)
        f(i, j, rho_f) = f(i, j, m_f) / volume(i, j, ax, first, .false.)
      end do
    end do
  end subroutine

  ! Volume of a cell before or after a sweep.
  pure real(dp) function volume(i, j, ax, first, is_before)
    integer, intent(in) :: i, j, ax
    logical, intent(in) :: first, is_before
    real(dp) :: in_x, in_y
    in_x = volx(i + 1, j) - volx(i, j)
    in_y = voly(i, j + 1) - voly(i, j)
    if (ax == 0) then ! the dimension of the sweep first
      volume = in_x
      in_x = in_y
      in_y = volume
    end if
    volume = dx * dy
    if (is_before) volume = volume + (in_x + merge(in_y, 0.0_dp, first))
    if (.not. is_before .and. first) volume = volume + in_y
  end function

  ! Carry momentum between the dual cells of nodes; lost energy of motion becomes heat.
  subroutine remap_nodes(ax, ay)
    integer, intent(in) :: ax, ay
    integer :: i, j, k, bi, bj, di, dj, s
    real(dp) :: mass, part, u, v, after, energy
    k = merge(fx_f, fy_f, ax == 1)
    do j = 0, ny + ay
      do i = 0, nx + ax
        bi = i - ax
        bj = j - ay
        mass = 0.25_dp * ((f(bi - ay, bj - ax, k) + f(i - ay, j - ax, k)) + &
                          (f(bi, bj, k) + f(i, j, k)))
        s = merge(1, -1, mass > 0)
        di = merge(bi, i, mass > 0)
        dj = merge(bj, j, mass > 0)
        part = abs(mass) / node(di, dj)
        u = from_field(u_f, di, dj, s * ax, s * ay, part)
        v = from_field(v_f, di, dj, s * ax, s * ay, part)
        heat(i, j) = mass
        px(i, j) = mass * u
        py(i, j) = mass * v
        kin(i, j) = mass * 0.5_dp * (u * u + v * v)
      end do
    end do
    do j = 0, ny
      do i = 0, nx
        u = f(i, j, u_f)
        v = f(i, j, v_f)
        after = node(i, j) + (heat(i, j) - heat(i + ax, j + ay))
        energy = node(i, j) * 0.5_dp * (u * u + v * v) + (kin(i, j) - kin(i + ax, j + ay))
        u = (node(i, j) * u + (px(i, j) - px(i + ax, j + ay))) / after
        v = (node(i, j) * v + (py(i, j) - py(i + ax, j + ay))) / after
        f(i, j, u_f) = u
        f(i, j, v_f) = v
        kin(i, j) = energy - after * 0.5_dp * (u * u + v * v)
      end do
    end do
    do j = 0, ny - 1
      do i = 0, nx - 1
        f(i, j, e_f) = f(i, j, e_f) + 0.25_dp * ((kin(i, j) + kin(i + 1, j)) + &
                                                 (kin(i, j + 1) + kin(i + 1, j + 1))) / f(i, j, m_f)
      end do
    end do
  end subroutine
end module hydro_kernels

module hydro_step
  use hydro_halo
  use hydro_kernels
  implicit none
  logical :: in_box = .false. ! no neighbours
  integer :: steps_in_box
contains
  subroutine advance_in_box()
    call advance(steps_in_box)
    steps_in_box = steps_in_box + 1
  end subroutine

  ! Fill ghosts; in a box of its own, those of walls only.
  subroutine fill_ghosts(fields, depth)
    integer, intent(in) :: fields(:), depth
    if (in_box) then
      call all_walls(fields)
    else
      call exchange(fields, depth)
    end if
  end subroutine

  subroutine advance(number)
    integer, intent(in) :: number
    real(dp) :: stable
    integer :: sweep, ax
    call fill_ghosts([rho_f, e_f, u_f, v_f], 2)
    call state()
    stable = stable_step()
    call app_enter(app_wait)
    if (.not. in_box) call co_min(stable)
    call app_enter(app_compute)
    step = merge(0.1_dp * stable, min(stable, 1.2_dp * step), number == 0)
    now = now + step
    call lagrange(step)
    do sweep = 0, 1
      ax = merge(1, 0, mod(number + sweep, 2) == 0)
      if (sweep == 0) then
        call fill_ghosts([rho_f, e_f, u_f, v_f], 2)
      else
        call fill_ghosts([rho_f, e_f, m_f, u_f, v_f], 2)
      end if
      call remap_cells(ax, 1 - ax, sweep == 0)
      call fill_ghosts([merge(fx_f, fy_f, ax == 1)], 1)
      call remap_nodes(ax, 1 - ax)
    end do
  end subroutine
end module hydro_step

program hydro_caf
  use hydro_step
  use app_caf, only: app_watch, app_breakdown, app_region, app_region_end, app_help, app_need, app_refuse, program_name
  use app_caf, only: app_alone
#ifndef PEER
  use tombolo_caf
#endif
  implicit none
  integer :: steps, first_form, last_form
  logical :: good
  character(16) :: problem
  program_name = 'hydro-caf'
  call read_arguments()
  call divide()
  call measure_alone()
  good = .true.
  do form = first_form, last_form
#ifdef PEER
    if (form == form_attached) cycle
#endif
    call run()
  end do
  sync all
  if (.not. good) error stop 1
contains
  subroutine read_arguments()
    character(32) :: text
    integer :: k, failed
    all_x = 240
    all_y = 240
    steps = 50
    problem = 'blast'
    first_form = 1
    last_form = 4
    failed = 0
    do k = 1, command_argument_count()
      call get_command_argument(k, text)
      if (text == '--help' .or. text == '-h') call help()
      if (k == 1) read (text, *, iostat=failed) all_x
      if (k == 2) read (text, *, iostat=failed) all_y
      if (k == 3) read (text, *, iostat=failed) steps
      if (k == 4) problem = text(1:16)
      if (k == 5) then
        last_form = findloc(form_name, text(1:8), dim=1)
        first_form = last_form
      end if
      if (failed /= 0 .or. last_form == 0 .or. k > 5) call app_refuse('argument ' // trim(text) // &
        ': expected CELLS_X CELLS_Y STEPS blast|tube|corner all|images|events|attached')
    end do
    if (all(problem /= [character(16) :: 'blast', 'tube', 'corner'])) call app_refuse(&
      'problem ' // trim(problem) // ': expected blast, tube or corner')
    if (all_x < 1 .or. all_y < 1) call app_refuse('take at least one cell in x and y')
    if (steps < 1) call app_refuse('take at least one step')
  end subroutine

  subroutine help()
    character(*), parameter :: nl = new_line('a')
    call app_help('Compressible hydrodynamics, Lagrangian step and remap' // nl // nl // &
      '  CELLS_X CELLS_Y  Cells in x and y (default 240 240, at least 2 for each image)' // nl // &
      '  STEPS            Steps (default 50, at least 1)' // nl // &
      '  PROBLEM          blast, tube (shock tube in x) or corner (default blast)' // nl // &
      '  FORM             Run one form only, of those below (default all)' // nl // nl // 'Forms:' // nl // &
      '  all       sync all' // nl // '  images    sync images with the neighbours' // nl // &
      '  events    event post and event wait' // nl // '  attached  the assignment is the post: event_attach')
  end subroutine

  ! The grid of images with the shortest sides, this image's part, memory.
  subroutine divide()
    integer :: px_, py_, room, s, x, y
    integer(int64) :: best, sides_, need
    best = -1
    ranks_x = 0
    do px_ = 1, num_images()
      if (mod(num_images(), px_) /= 0) cycle
      py_ = num_images() / px_
      if (all_x / px_ < ghost .or. all_y / py_ < ghost) cycle
      sides_ = int(all_y, int64) * (px_ - 1) + int(all_x, int64) * (py_ - 1)
      if (best >= 0 .and. sides_ >= best) cycle
      best = sides_
      ranks_x = px_
      ranks_y = py_
    end do
    if (ranks_x == 0) call app_refuse('too few cells for so many images')
    rank_x = mod(this_image() - 1, ranks_x)
    rank_y = (this_image() - 1) / ranks_x
    x0 = int(int(all_x, int64) * rank_x / ranks_x)
    nx = int(int(all_x, int64) * (rank_x + 1) / ranks_x) - x0
    y0 = int(int(all_y, int64) * rank_y / ranks_y)
    ny = int(int(all_y, int64) * (rank_y + 1) / ranks_y) - y0
    do s = 1, sides
      x = rank_x + side_x(s)
      y = rank_y + side_y(s)
      neighbour(s) = 0
      if (x >= 0 .and. x < ranks_x .and. y >= 0 .and. y < ranks_y) neighbour(s) = y * ranks_x + x + 1
    end do
    dx = 1.0_dp / merge(all_x, min(all_x, all_y), problem == 'tube')
    dy = dx
    need = (max((all_x - 1) / ranks_x, (all_y - 1) / ranks_y) + 2_int64) * ghost * 5
    call app_need(8 * (18 * (nx + 2d0 * ghost + 1) * (ny + 2d0 * ghost + 1) + 3d0 * sides * need))
    room = int(need)
    allocate (f(-ghost:nx + ghost, -ghost:ny + ghost, 7))
    allocate (p(-ghost:nx + ghost, -ghost:ny + ghost))
    allocate (q, c, work, volx, voly, node, px, py, kin, heat, mold=p)
    allocate (packed(room, sides))
    allocate (halo(room, 0:1, sides)[*])
  end subroutine

  subroutine start()
    integer :: i, j
    real(dp) :: x, y, pressure
    logical :: inner
    f = 0
    do j = 0, ny - 1
      do i = 0, nx - 1
        x = 2 * (x0 + i) + 1
        y = 2 * (y0 + j) + 1
        if (problem == 'blast') then
          inner = (x - all_x)**2 + (y - all_y)**2 < (0.2_dp * min(all_x, all_y))**2
          f(i, j, rho_f) = 1
          pressure = merge(10.0_dp, 0.1_dp, inner)
        else
          inner = merge(x < all_x, 2 * x < all_x .and. 4 * y < all_y, problem == 'tube')
          f(i, j, rho_f) = merge(1.0_dp, 0.125_dp, inner)
          pressure = merge(1.0_dp, 0.1_dp, inner)
        end if
        f(i, j, e_f) = pressure / ((gamma - 1) * f(i, j, rho_f))
      end do
    end do
    now = 0
    step = 0
    exchanges = 0
  end subroutine

  ! Mass, energy of all images, and what is off in mirror images of the density's moments.
  function totals() result(sum_)
    real(dp) :: sum_(4), motion
    integer :: i, j
    sum_ = 0
    do j = 0, ny - 1
      do i = 0, nx - 1
        motion = sum(f(i:i + 1, j:j + 1, u_f)**2) + sum(f(i:i + 1, j:j + 1, v_f)**2)
        sum_(1) = sum_(1) + f(i, j, rho_f) * dx * dy
        sum_(2) = sum_(2) + f(i, j, rho_f) * dx * dy * (f(i, j, e_f) + motion / 8)
        sum_(3) = sum_(3) + (f(i, j, rho_f) - 1) * (2 * (x0 + i) + 1 - all_x) * dx
        sum_(4) = sum_(4) + (f(i, j, rho_f) - 1) * (2 * (y0 + j) + 1 - all_y) * dy
      end do
    end do
    call co_sum(sum_)
  end function

  ! What a step computes: this image's cells in a box of their own, with walls on all sides.
  subroutine measure_alone()
    integer :: place(4)
    place = [ranks_x, ranks_y, rank_x, rank_y]
    ranks_x = 1
    ranks_y = 1
    rank_x = 0
    rank_y = 0
    in_box = .true.
    steps_in_box = 0
    call start()
    call app_alone(advance_in_box)
    in_box = .false.
    ranks_x = place(1)
    ranks_y = place(2)
    rank_x = place(3)
    rank_y = place(4)
  end subroutine

  subroutine run()
    real(dp) :: before(4), after(4), seconds, allowed, off(2)
    integer(int64) :: t0, t1, rate
    integer :: k
    logical :: fine
    call start()
    before = totals()
#ifndef PEER
    if (form == form_attached) then ! from now on each assignment to a halo posts its side's event
      do k = 1, sides
        call event_attach(loc(arrived(k)), halo(:, :, k))
      end do
    end if
#endif
    sync all
    call system_clock(t0, rate)
    do k = 0, steps - 1
      call app_region(form_name(form))
      call advance(k)
      call app_region_end()
    end do
    sync all
    call system_clock(t1)
    seconds = real(t1 - t0, dp) / real(rate, dp) / steps
    after = totals()
    off = abs(after(1:2) / before(1:2) - 1)
    allowed = 1e-13_dp * (steps + 1)
    fine = all(off <= allowed)
    if (problem == 'blast') fine = fine .and. all(abs(after(3:4)) <= 1e-9_dp * all_x * all_y)
    good = good .and. fine
    if (this_image() == 1) print '(2x, a, f12.5, a, f10.1, a, 2es9.1, 2a)', form_name(form), &
      seconds * 1e3_dp, ' ms a step', real(all_x, dp) * all_y / seconds * 1e-6_dp, &
      ' Mcells/s, mass and energy off by', off, '  ', merge('VERIFIED', 'FAILED  ', fine)
    call app_region(form_name(form))
    call app_watch(.true.)
    call advance(steps) ! for the phases only
    call app_watch(.false.)
    call app_region_end()
    call app_breakdown()
  end subroutine
end program hydro_caf
