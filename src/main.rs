//! The program `pagelog`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    pagelog::cli::main()
}
