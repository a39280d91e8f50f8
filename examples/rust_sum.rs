// SPDX-License-Identifier: Apache-2.0
// The C interface from Rust, without a generated binding:
// rustc rust_sum.rs -C link-args="$(pkg-config --libs fanin) -lstdc++"
use std::ffi::{c_char, c_void, CStr};
use std::ptr::null;

const FANIN_OK: i32 = 0;
const FANIN_SUM: i32 = 0;
const FANIN_MIN: i32 = 2;
const FANIN_F64: i32 = 1;
const FANIN_EXACT: i32 = 2;

#[repr(C)]
struct Input {
    struct_size: usize,
    x: *const c_void,
    y: *const c_void,
    count: u64,
    element_type: i32,
    place: i32,
    mask: *const c_void,
    mask_first: u64,
    mask_form: i32,
}

#[repr(C)]
struct Options {
    struct_size: usize,
    backend: *const c_char,
    variant: *const c_char,
    method: i32,
    result_type: i32,
    threads: u32,
    nan: i32,
}

extern "C" {
    fn fanin_reduce(what: i32, input: *const Input, options: *const Options, result: *mut c_void, report: *mut c_void) -> i32;
    fn fanin_last_error() -> *const c_char;
}

/// The exact value of the operation, or the library's sentence about what went wrong.
fn exact(what: i32, x: &[f64]) -> Result<f64, String> {
    let input = Input {
        struct_size: std::mem::size_of::<Input>(),
        x: x.as_ptr().cast(),
        y: null(),
        count: x.len() as u64,
        element_type: FANIN_F64,
        place: 0,
        mask: null(),
        mask_first: 0,
        mask_form: 0,
    };
    let options = Options {
        struct_size: std::mem::size_of::<Options>(),
        backend: null(),
        variant: null(),
        method: FANIN_EXACT,
        result_type: -1,
        threads: 0,
        nan: 0,
    };
    let mut value = 0f64;
    // SAFETY: the structs have the layout of fanin.h, and the slice and the value outlive the call.
    unsafe {
        if fanin_reduce(what, &input, &options, (&mut value as *mut f64).cast(), std::ptr::null_mut()) == FANIN_OK {
            Ok(value)
        } else {
            Err(CStr::from_ptr(fanin_last_error()).to_string_lossy().into_owned())
        }
    }
}

fn main() {
    let sum = exact(FANIN_SUM, &[1e100, 1.0, -1e100, 2.0]);
    println!("sum {:?}, min of nothing: {:?}", sum, exact(FANIN_MIN, &[]));
    assert_eq!(sum, Ok(3.0));
    assert!(exact(FANIN_MIN, &[]).is_err());
}
