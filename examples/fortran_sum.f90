! SPDX-License-Identifier: Apache-2.0
! The C interface from Fortran: an exact sum through iso_c_binding, and the same from states that are merged as integers,
! which is how a sum over MPI ranks has the same bits for any number of ranks.
module fanin
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int32_t), parameter :: fanin_sum = 0, fanin_f64 = 1, fanin_type_default = -1

  type, bind(c) :: fanin_input
    integer(c_size_t) :: struct_size
    type(c_ptr) :: x = c_null_ptr, y = c_null_ptr
    integer(c_int64_t) :: count = 0
    integer(c_int32_t) :: element_type = fanin_f64, place = 0
    type(c_ptr) :: mask = c_null_ptr
    integer(c_int64_t) :: mask_first = 0
    integer(c_int32_t) :: mask_form = 0
  end type

  interface
    integer(c_int32_t) function fanin_state_create(what, element_type, state) bind(c)
      import
      integer(c_int32_t), value :: what, element_type
      type(c_ptr) :: state
    end function
    integer(c_int32_t) function fanin_state_accumulate(state, input, options, context, report) bind(c)
      import
      type(c_ptr), value :: state, options, context, report
      type(fanin_input) :: input
    end function
    integer(c_size_t) function fanin_state_lane_count(state) bind(c)
      import
      type(c_ptr), value :: state
    end function
    integer(c_int32_t) function fanin_state_lanes(state, lanes) bind(c)
      import
      type(c_ptr), value :: state
      integer(c_int64_t) :: lanes(*)
    end function
    integer(c_int32_t) function fanin_state_from_lanes(state, lanes) bind(c)
      import
      type(c_ptr), value :: state
      integer(c_int64_t), intent(in) :: lanes(*)
    end function
    integer(c_int32_t) function fanin_state_finish(state, what, result_type, value) bind(c)
      import
      type(c_ptr), value :: state
      integer(c_int32_t), value :: what, result_type
      real(c_double) :: value
    end function
    subroutine fanin_state_destroy(state) bind(c)
      import
      type(c_ptr), value :: state
    end subroutine
  end interface
end module

program sum_of_parts
  use fanin
  implicit none
  integer, parameter :: n = 300000
  real(c_double), target :: x(n)
  integer :: i

  do i = 1, n
    x(i) = 1e16_c_double / (i - 150000.5_c_double) + 1 / real(i, c_double)
  end do
  print '(a, es24.16, a, es24.16)', 'one part: ', exact_sum(1), ', seven: ', exact_sum(7)
  if (exact_sum(1) /= exact_sum(7)) error stop 1

contains

  ! The sum of x, of which each part has a state; their lanes are added, as MPI_Allreduce with MPI_SUM would do.
  real(c_double) function exact_sum(parts)
    integer, intent(in) :: parts
    integer(c_int64_t), allocatable :: lanes(:), total(:)
    type(fanin_input) :: input
    type(c_ptr) :: state
    integer :: p, first

    input%struct_size = c_sizeof(input)
    do p = 1, parts
      first = 1 + n * (p - 1) / parts
      input%x = c_loc(x(first))
      input%count = n * p / parts - (first - 1)
      call check(fanin_state_create(fanin_sum, fanin_f64, state))
      if (p == 1) allocate (lanes(fanin_state_lane_count(state)), total(fanin_state_lane_count(state)), source=0_c_int64_t)
      call check(fanin_state_accumulate(state, input, c_null_ptr, c_null_ptr, c_null_ptr))
      call check(fanin_state_lanes(state, lanes))
      total = total + lanes
      if (p == parts) then
        call check(fanin_state_from_lanes(state, total))
        call check(fanin_state_finish(state, fanin_sum, fanin_type_default, exact_sum))
      end if
      call fanin_state_destroy(state)
    end do
  end function

  subroutine check(status)
    integer(c_int32_t), intent(in) :: status
    if (status /= 0) error stop 2
  end subroutine
end program
