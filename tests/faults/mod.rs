//! Fault cases from public reports, played against the program as a user runs it: a test
//! for each case, an assertion for each line that it expects, and a table that names them
//! all.

mod bombs;
mod case;
mod files;
mod http;
mod links;
mod markdown;
mod retry_after;
mod robots;
mod scheduling;
mod security;
mod sitemap;
mod table;
mod url;
