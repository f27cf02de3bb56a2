//! Reading Rust sources without understanding them: comments and literals are blanked, so
//! that what is left can be searched and its braces counted.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file.
pub struct Source {
    /// Path below the project, with `/`.
    pub path: String,
    /// The text as it is.
    pub text: String,
    /// Code only, without items for tests; as many lines as the text.
    pub code: String,
}

impl Source {
    /// The module of the crate that the file belongs to: `archive` of `src/archive/tree.rs`.
    pub fn module(&self) -> &str {
        let below = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let first = below.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Lines of code, from 1, on which the pattern is found.
    pub fn find(&self, pattern: &regex::Regex) -> Vec<(usize, String)> {
        let lines = self.code.lines().enumerate();
        lines
            .filter_map(|(at, line)| Some((at + 1, pattern.find(line)?.as_str().to_owned())))
            .collect()
    }
}

/// The folder of the project.
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files of the program, tests left out: those in a folder `tests`, and those that the
/// file they belong to declares behind `#[cfg(test)]`.
pub fn program() -> Vec<Source> {
    let all: Vec<Source> = rust_files("src").iter().map(|path| read(path)).collect();
    let tests: BTreeSet<String> = all.iter().flat_map(test_files).collect();
    let is_test = |path: &String| path.contains("/tests/") || tests.contains(path);
    all.into_iter().filter(|source| !is_test(&source.path)).collect()
}

/// The files that a file declares to be tests.
fn test_files(source: &Source) -> Vec<String> {
    const MARK: &str = "#[cfg(test)]";
    let stem = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
    let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut files = Vec::new();
    let mut lines = source.text.lines().map(str::trim).skip_while(|line| *line != MARK);
    while let Some(line) = lines.next() {
        if line != MARK {
            continue;
        }
        let next: Vec<&str> = lines.clone().take(2).collect();
        let quoted = next.first().and_then(|line| line.strip_prefix("#[path = \""));
        if let Some(path) = quoted.and_then(|rest| rest.split('"').next()) {
            files.push(format!("{folder}/{path}"));
        }
        let declared = next.iter().find_map(|line| line.strip_prefix("mod "));
        if let Some(name) = declared.and_then(|rest| rest.strip_suffix(';')) {
            files.push(format!("{stem}/{name}.rs"));
        }
    }
    files
}

/// Reads one file of the project.
pub fn read(path: &str) -> Source {
    let text = fs::read_to_string(project().join(path)).expect("a source file can be read");
    let code = without_tests(&blank(&text));
    Source { path: path.to_owned(), text, code }
}

/// Paths of all Rust files below a folder of the project, in order.
pub fn rust_files(folder: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(project().join(&folder)).expect("a folder").flatten() {
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    files.sort();
    files
}

/// The text with comments and the insides of literals as spaces; line ends stay.
pub fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => line_end(&chars, at),
            '/' if chars.get(at + 1) == Some(&'*') => comment_end(&chars, at),
            'r' if !follows_word(&chars, at) => raw_string_end(&chars, at).unwrap_or(at),
            '"' => string_end(&chars, at),
            '\'' => char_end(&chars, at).unwrap_or(at),
            _ => at,
        };
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|&c| if c == '\n' { c } else { ' ' }));
            at = end;
        }
    }
    out
}

fn follows_word(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| chars[before]);
    before.is_some_and(|c| c.is_alphanumeric() && c != 'b' || c == '_')
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|&c| c == '\n').map_or(chars.len(), |n| at + n)
}

fn comment_end(chars: &[char], at: usize) -> usize {
    let mut depth = 0;
    let mut here = at;
    while here < chars.len() {
        match (chars[here], chars.get(here + 1)) {
            ('/', Some('*')) => (depth, here) = (depth + 1, here + 2),
            ('*', Some('/')) if depth == 1 => return here + 2,
            ('*', Some('/')) => (depth, here) = (depth - 1, here + 2),
            _ => here += 1,
        }
    }
    here
}

fn string_end(chars: &[char], at: usize) -> usize {
    let mut here = at + 1;
    while here < chars.len() {
        match chars[here] {
            '\\' => here += 2,
            '"' => return here + 1,
            _ => here += 1,
        }
    }
    chars.len()
}

/// The end of `r"…"` or `r#"…"#`; `None` for anything else that begins with `r`.
fn raw_string_end(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
    let start = at + 1 + hashes;
    if chars.get(start) != Some(&'"') {
        return None;
    }
    let closes = |here: &usize| {
        chars[*here] == '"'
            && chars[here + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    (start + 1..chars.len()).find(closes).map(|here| here + 1 + hashes)
}

/// The end of a character literal; `None` for a lifetime.
fn char_end(chars: &[char], at: usize) -> Option<usize> {
    if chars.get(at + 1) == Some(&'\\') {
        let close = chars[at + 3..].iter().position(|&c| c == '\'')?;
        return Some(at + 3 + close + 1);
    }
    (chars.get(at + 2) == Some(&'\'')).then_some(at + 3)
}

/// The code without items behind `#[cfg(test)]`, which are blanked.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = code.to_owned();
    while let Some(at) = out.find(MARK) {
        let end = item_end(&out, at + MARK.len());
        let blanked: String =
            out[at..end].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
        out.replace_range(at..end, &blanked);
    }
    out
}

/// Where the item that begins at `start` ends: behind its `;` or its closing brace.
pub fn item_end(code: &str, start: usize) -> usize {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (at, c) in code[start..].char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            '{' => braces += 1,
            '}' if braces <= 1 => return start + at + 1,
            '}' => braces -= 1,
            ';' if braces == 0 && brackets == 0 => return start + at + 1,
            _ => {}
        }
    }
    code.len()
}

#[test]
fn only_code_is_left() {
    let text = "let a = \"x{\\\"\"; // }\nlet b: &'static str = r#\"\"{\"#; /* { /* */ */ let c = '{';\n\
                let d = '\\''; let e = b'\\n'; for r in s {}\n";
    let left = blank(text);
    assert_eq!(left.lines().count(), 3);
    assert_eq!(left.matches('{').count(), 1, "{left}");
    assert!(left.contains("for r in s {}") && left.contains("&'static str"), "{left}");
}

#[test]
fn tests_are_left_out() {
    let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod d;\nfn e() {}\n";
    let left = without_tests(code);
    assert_eq!(left.lines().count(), code.lines().count());
    assert!(left.contains("fn c()") && left.contains("fn e()"));
    assert!(!left.contains("fn b()") && !left.contains("mod d"));
}
