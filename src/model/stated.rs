//! What a sitemap states of when its entries changed, and how often that was true.

/// What the times of one sitemap have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// No entry states one.
    #[default]
    Silent,
    /// They differ, as times of changes do.
    Varied,
    /// All entries state the same.
    Equal,
    /// All entries state the moment at which the sitemap was asked for.
    Now,
    /// All that are stated lie in the future, or at the beginning of Unix time.
    Impossible,
}

impl Spread {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Silent, "silent"),
        (Self::Varied, "varied"),
        (Self::Equal, "equal"),
        (Self::Now, "now"),
        (Self::Impossible, "impossible"),
    ];

    /// The name in the state.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, _)| *it == self).map_or("silent", |(_, name)| name)
    }

    /// The spread of that name; silent where there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Self::ALL.iter().find(|(_, own)| *own == name).map_or(Self::Silent, |(it, _)| *it)
    }

    /// Whether the times are those of the file, and say nothing of its entries.
    #[must_use]
    pub fn is_empty_talk(self) -> bool {
        matches!(self, Self::Equal | Self::Now | Self::Impossible)
    }
}

/// How often the entries of a sitemap were as it stated, as far as looks at them showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// It stated no change, and there was none.
    pub kept: u32,
    /// It stated no change, and there was one.
    pub missed: u32,
    /// It stated a change, and there was one.
    pub hits: u32,
    /// It stated a change, and there was none.
    pub alarms: u32,
}

/// What is remembered of the times that a sitemap states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// What they had in common when it was read last.
    pub spread: Spread,
    /// How often they were right.
    pub record: Record,
}
