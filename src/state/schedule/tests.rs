//! The politeness file: what is saved comes back, and two processes share it.
