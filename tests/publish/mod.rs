//! Filling mirrors: what leaves, what never does, and what is done when it goes wrong.

mod after_run;
mod credentials;
mod first;
mod interrupts;
mod leaks;
mod refused;
pub mod scene;
mod slices;
