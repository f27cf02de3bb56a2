//! Runs that are killed, disturbed or out of room: the archive is sound throughout, both
//! refs move or none does, and the next run ends where an undisturbed one would have.

mod durability;
mod kill_steps;
mod scene;
mod state_loss;
mod tracer;
