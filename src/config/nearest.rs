//! "Did you mean": the known word that is the fewest keystrokes away.

/// The candidate nearest to `word`, if it is near enough to be meant; case does not count.
pub(super) fn nearest<'c>(
    word: &str,
    candidates: impl Iterator<Item = &'c str>,
) -> Option<&'c str> {
    let length = word.chars().count();
    if length > 64 {
        return None;
    }
    let word = word.to_lowercase();
    let near = candidates.map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate));
    let (distance, candidate) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + length / 4).then_some(candidate)
}

/// How many characters must be put in, taken out or replaced to make `b` of `a`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut above_left = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let here = (above_left + usize::from(x != *y)).min(left + 1).min(*cell + 1);
            above_left = std::mem::replace(cell, here);
            left = here;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distance_counts_keystrokes() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("license", "licence"), 1);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn only_near_words_are_suggested() {
        let known = ["licence", "publish", "paths"];
        assert_eq!(nearest("License", known.into_iter()), Some("licence"));
        assert_eq!(nearest("path", known.into_iter()), Some("paths"));
        assert_eq!(nearest("colour", known.into_iter()), None);
        assert_eq!(nearest("x", [].into_iter()), None);
    }
}
