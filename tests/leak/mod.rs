//! Text of private sources stays off the public ref, whatever happens to them.

mod canaries;
mod guards;
mod held_back;
mod leaving;
