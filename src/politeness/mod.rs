//! Whether a request may be made, and when.
//!
//! Owns the rules of conduct: what robots.txt allows ([`Robots`]) and the numbers of the
//! named policies ([`Policy`]). It opens no connection, reads no file and has no clock.

mod policy;
mod retry_after;
mod robots;

pub use policy::{Limits, Policy};
pub use retry_after::{http_date, retry_after};
pub use robots::{Access, Answer, Ground, Robots, Standing, Verdict, looks_like_html};
