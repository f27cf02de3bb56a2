//! Text of private sources stays off the public ref, whatever happens to them.

mod held_back;
