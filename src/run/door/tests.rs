//! What passes the door, and when.
