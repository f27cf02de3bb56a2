//! The environment of a test: a temporary folder with upstream repositories, a
//! configuration, and the program, which sees nothing of the machine's Git settings.

pub mod agree;
pub mod contents;
pub mod crawl;
pub mod hosts;
pub mod judge;
mod judge_tests;
pub mod many_runs;
pub mod nginx;
pub mod numbers;
pub mod past;
pub mod script;
pub mod server;
pub mod shared;
pub mod site;
pub mod stand_in;
pub mod tracer;
pub mod upstream;
pub mod world;

pub use upstream::Upstream;
pub use world::{Outcome, World};
