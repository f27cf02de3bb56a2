//! The program `pagelog`: see the library.

fn main() {}
