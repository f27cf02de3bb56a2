//! What Git says, untranslated, where a remote cannot be used: for fetching and pushing alike.

/// It is not there, or not for us: asking again does not help.
const CLOSED: &[&str] = &[
    "not found",
    "does not exist",
    "does not appear to be a git repository",
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "unable to get password from user",
    "Permission denied",
    "Permission to ",
    "access denied",
    "returned error: 401",
    "returned error: 403",
    "returned error: 404",
    "returned error: 410",
    "dubious ownership",
    "not exported",
];

/// The way to it failed: another time it may work.
const NETWORK: &[&str] = &[
    "Could not resolve",
    "unable to connect",
    "Failed to connect",
    "Couldn't connect",
    "Connection refused",
    "Connection reset",
    "Connection timed out",
    "Connection closed",
    "timed out",
    "early EOF",
    "unexpected disconnect",
    "hung up unexpectedly",
    "RPC failed",
    "returned error: 429",
    "returned error: 5",
    "Empty reply",
    "Operation too slow",
    "Could not read from remote repository",
];

/// Whether Git says that the remote is closed to us.
pub(super) fn is_closed(said: &str) -> bool {
    says(said, CLOSED)
}

/// Whether Git says that the network failed.
pub(super) fn is_network(said: &str) -> bool {
    says(said, NETWORK)
}

/// Whether one of the phrases was said.
pub(super) fn says(said: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| said.contains(phrase))
}
