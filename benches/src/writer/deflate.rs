//! Libraries for deflate on the texts of the pages, each text for itself as in a pack.

use std::time::Duration;

use crate::Arguments;
use crate::measure::{middle, thread_time};

/// Something that deflates: gives how many bytes it wrote.
type Deflate = Box<dyn FnMut(&[u8], &mut [u8]) -> usize>;

/// More than any text of the corpus needs.
const ROOM: usize = 64 << 10;

/// Prints speed and ratio of each library and level.
pub fn run(arguments: &Arguments, texts: &[Vec<u8>]) {
    let mut ways: Vec<(String, Deflate, Vec<Duration>, usize)> = [1, 6]
        .map(|level| (format!("libdeflate {level}"), libdeflate(level), Vec::new(), 0))
        .into_iter()
        .chain([1, 2, 6].map(|level| (format!("zlib-rs {level}"), zlib(level), Vec::new(), 0)))
        .collect();
    let mut out = vec![0; ROOM];
    for _ in 0..arguments.rounds {
        for (_, deflate, times, bytes) in &mut ways {
            let start = thread_time();
            *bytes = texts.iter().map(|text| deflate(text, &mut out)).sum();
            times.push(thread_time().saturating_sub(start));
        }
    }
    let all: usize = texts.iter().map(Vec::len).sum();
    println!("\n| deflate, level | MB/s a core | deflated / text |\n|---|---|---|");
    for (name, _, times, bytes) in ways {
        let speed = all as f64 / 1e6 / middle(times).as_secs_f64();
        println!("| {name} | {speed:.0} | {:.3} |", bytes as f64 / all as f64);
    }
}

fn libdeflate(level: i32) -> Deflate {
    let level = libdeflater::CompressionLvl::new(level).expect("a level");
    let mut compressor = libdeflater::Compressor::new(level);
    Box::new(move |text, out| compressor.zlib_compress(text, out).expect("there is room"))
}

fn zlib(level: i32) -> Deflate {
    let mut compressor = zlib_rs::Deflate::new(level, true, 15);
    Box::new(move |text, out| {
        compressor.reset();
        let status = compressor.compress(text, out, zlib_rs::DeflateFlush::Finish);
        assert!(matches!(status, Ok(zlib_rs::Status::StreamEnd)), "there is room");
        usize::try_from(compressor.total_out()).expect("a size")
    })
}
