//! Runs that are killed, disturbed or out of room: the archive is sound throughout, both
//! refs move or none does, and the next run ends where an undisturbed one would have.

mod checkpoints;
mod crawl_kills;
mod crawl_scene;
mod disk;
mod durability;
mod kill_children;
mod kill_random;
mod kill_steps;
mod locks;
mod moved_refs;
mod orphans;
mod scene;
mod state_loss;
mod unreadable;
mod upkeep;
