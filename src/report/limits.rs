//! What common hosts of Git repositories take, and warnings long before that.
//!
//! The numbers are those of GitHub's documentation ("About large files on GitHub" and
//! "Repository limits", both read in 2026), the strictest of the large hosts; where these say
//! MiB and GiB, the smaller MB and GB are taken.

use crate::archive::Sizes;

/// Bytes of a file in a commit; larger ones are refused ("About large files on GitHub").
pub(super) const FILE: Limit = Limit { most: 100_000_000, warn_from: 50_000_000 };

/// Bytes of one push; larger ones are refused ("Repository limits").
pub(super) const PUSH: Limit = Limit { most: 2_000_000_000, warn_from: 1_000_000_000 };

/// Entries of a directory; advice ("Repository limits").
pub(super) const DIRECTORY: Limit = Limit { most: 3_000, warn_from: 2_000 };

/// Bytes of a repository on disk; advice ("Repository limits").
pub(super) const REPOSITORY: Limit = Limit { most: 10_000_000_000, warn_from: 5_000_000_000 };

/// A limit, and from when on it is spoken of.
pub(super) struct Limit {
    pub most: u64,
    pub warn_from: u64,
}

impl Limit {
    fn is_near(&self, size: u64) -> bool {
        size >= self.warn_from
    }
}

/// Runs until the public ref reaches the limit of repositories, at the growth that was
/// measured; `None` where it does not grow, or is beyond it.
pub(super) fn runs_left(sizes: &Sizes) -> Option<u64> {
    let growth = sizes.growth.filter(|growth| growth.size > 0)?;
    let room = REPOSITORY.most.checked_sub(sizes.public)?;
    u64::try_from(u128::from(room) * u128::from(growth.runs) / u128::from(growth.size)).ok()
}

/// What is near a limit, and what can be done.
pub(super) fn warnings(sizes: &Sizes) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(file) = sizes.largest_file.as_ref().filter(|file| FILE.is_near(file.size)) {
        warnings.push(format!(
            "{} has {} in a public commit; common hosts refuse files of more than {}: `skip` \
             leaves its page out of later commits",
            file.path,
            bytes(file.size),
            bytes(FILE.most)
        ));
    }
    let wide = sizes.largest_directories.iter().filter(|it| DIRECTORY.is_near(it.size));
    warnings.extend(wide.map(|it| {
        format!(
            "{} has {} entries; common hosts advise at most {}, and show no more",
            it.path, it.size, DIRECTORY.most
        )
    }));
    if PUSH.is_near(sizes.push) {
        warnings.push(format!(
            "a push of all of the public ref carries {}; common hosts refuse more than {} at \
             once: `pagelog publish` sends it in slices",
            bytes(sizes.push),
            bytes(PUSH.most)
        ));
    }
    if REPOSITORY.is_near(sizes.public) {
        let left = runs_left(sizes)
            .map_or_else(String::new, |runs| format!(", which it reaches in about {runs} runs"));
        warnings.push(format!(
            "the public ref has {}; common hosts advise at most {}{left}",
            bytes(sizes.public),
            bytes(REPOSITORY.most)
        ));
    }
    warnings
}

/// A size as people read it.
pub(super) fn bytes(size: u64) -> String {
    let (unit, name) = match size {
        0..100_000 => (100, "kB"),
        100_000..1_000_000_000 => (100_000, "MB"),
        _ => (100_000_000, "GB"),
    };
    let tenths = (size + unit / 2) / unit;
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Growth, Largest};

    fn largest(size: u64) -> Largest {
        Largest { path: "pages/a".to_owned(), size }
    }

    fn sizes() -> Sizes {
        Sizes {
            public: 4_999_999_999,
            private: 90_000_000_000,
            push: 999_999_999,
            largest_file: Some(largest(49_999_999)),
            largest_directories: vec![largest(1_999)],
            growth: Some(Growth { size: 30_000_000, runs: 30 }),
        }
    }

    #[test]
    fn below_all_limits_nothing_is_said() {
        assert_eq!(warnings(&sizes()), Vec::<String>::new());
        assert_eq!(warnings(&Sizes::default()), Vec::<String>::new());
        assert_eq!(runs_left(&sizes()), Some(5_000));
    }

    #[test]
    fn each_limit_is_spoken_of_long_before() {
        let file = Sizes { largest_file: Some(largest(50_000_000)), ..sizes() };
        let directory =
            Sizes { largest_directories: vec![largest(2_000), largest(1_999)], ..sizes() };
        let push = Sizes { push: 1_000_000_000, ..sizes() };
        let repository = Sizes { public: 5_000_000_000, ..sizes() };
        let cases = [
            (file, "pages/a has 50.0 MB in a public commit"),
            (directory, "pages/a has 2000 entries"),
            (push, "carries 1.0 GB"),
            (
                repository,
                "has 5.0 GB; common hosts advise at most 10.0 GB, which it reaches in about 5000 runs",
            ),
        ];
        for (sizes, what) in cases {
            let told = warnings(&sizes);
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].contains(what), "{told:?}");
        }
    }

    #[test]
    fn each_wide_directory_is_named() {
        let wide = |path: &str, size| Largest { path: path.to_owned(), size };
        let largest_directories = vec![wide("a", 9_000), wide("b", 2_000), wide("c", 1_999)];
        let told = warnings(&Sizes { largest_directories, ..sizes() });
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("a has 9000") && told[1].starts_with("b has 2000"), "{told:?}");
    }

    #[test]
    fn what_does_not_grow_reaches_nothing() {
        let still = Sizes { growth: Some(Growth { size: 0, runs: 3 }), ..sizes() };
        assert_eq!(runs_left(&still), None);
        let beyond = Sizes { public: 10_000_000_001, ..sizes() };
        assert_eq!(runs_left(&beyond), None);
    }

    #[test]
    fn sizes_are_rounded() {
        assert_eq!(bytes(0), "0.0 kB");
        assert_eq!(bytes(1_250), "1.3 kB");
        assert_eq!(bytes(100_000), "0.1 MB");
        assert_eq!(bytes(49_960_000), "50.0 MB");
        assert_eq!(bytes(1_549_000_000), "1.5 GB");
    }
}
