! SPDX-License-Identifier: Apache-2.0
! An exact sum over MPI ranks from Fortran, by the C interface: each rank writes its state as integers, MPI_Allreduce adds
! them, and every rank reads the same sum from them. Any number of ranks gives the same bits.
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

contains

  ! The sum of the x of all ranks, correctly rounded, the same on each of them.
  real(c_double) function sum_over_ranks(x, comm)
    use mpi
    real(c_double), target, contiguous, intent(in) :: x(:)
    integer, intent(in) :: comm
    integer(c_int64_t), allocatable :: lanes(:), total(:)
    type(fanin_input) :: input
    type(c_ptr) :: state
    integer :: error

    input%struct_size = c_sizeof(input)
    if (size(x) > 0) input%x = c_loc(x)
    input%count = size(x)
    call check(fanin_state_create(fanin_sum, fanin_f64, state))
    call check(fanin_state_accumulate(state, input, c_null_ptr, c_null_ptr, c_null_ptr))
    allocate (lanes(fanin_state_lane_count(state)), total(fanin_state_lane_count(state)))
    call check(fanin_state_lanes(state, lanes))
    call MPI_Allreduce(lanes, total, size(lanes), MPI_INTEGER8, MPI_SUM, comm, error)
    call check(fanin_state_from_lanes(state, total))
    call check(fanin_state_finish(state, fanin_sum, fanin_type_default, sum_over_ranks))
    call fanin_state_destroy(state)
  end function

  subroutine check(status)
    integer(c_int32_t), intent(in) :: status
    if (status /= 0) error stop 2
  end subroutine
end module

program sum_on_ranks
  use mpi
  use fanin
  implicit none
  integer, parameter :: n = 300000
  real(c_double) :: x(n), together, alone
  integer :: i, rank, ranks, error

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do i = 1, n
    x(i) = 1e16_c_double / (i - 150000.5_c_double) + 1 / real(i, c_double)
  end do
  together = sum_over_ranks(x(1 + n / ranks * rank:merge(n, n / ranks * (rank + 1), rank + 1 == ranks)), MPI_COMM_WORLD)
  alone = sum_over_ranks(x, MPI_COMM_SELF)
  if (rank == 0) print '(i0, a, es24.16)', ranks, ' ranks:', together
  if (together /= alone) error stop 1
  call MPI_Finalize(error)
end program
