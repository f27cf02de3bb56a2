//! What a server says that it sends.

use std::fmt;

/// A media type and its charset (RFC 9110, section 8.3.1); other parameters are left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MediaType {
    essence: String,
    charset: Option<String>,
}

impl MediaType {
    /// Reads a Content-Type; `None` where it does not begin with `type/subtype`. Parameters
    /// that cannot be read are passed over, and the first charset counts.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
        let essence = essence.trim().to_ascii_lowercase();
        let (kind, subtype) = essence.split_once('/')?;
        (is_token(kind) && is_token(subtype))
            .then(|| Self { charset: charset(parameters), essence })
    }

    /// `type/subtype` in lower case.
    #[must_use]
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// The charset in lower case, as it was named.
    #[must_use]
    pub fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }
}

impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.essence)
    }
}

/// The first `charset` of `a=b; c="d"`.
fn charset(parameters: &str) -> Option<String> {
    let mut rest = parameters;
    while !rest.is_empty() {
        let name_end = rest.find(['=', ';']).unwrap_or(rest.len());
        let name = rest[..name_end].trim();
        let Some(value) = rest[name_end..].strip_prefix('=') else {
            rest = rest.get(name_end + 1..).unwrap_or_default();
            continue;
        };
        let (value, after) = parameter_value(value.trim_start());
        if name.eq_ignore_ascii_case("charset") && is_token(&value) {
            return Some(value.to_ascii_lowercase());
        }
        rest = after.split_once(';').map_or("", |(_, next)| next);
    }
    None
}

/// A token or a quoted string (RFC 9110, section 5.6.4), and what stands behind it.
fn parameter_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim_end().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value.trim().to_owned(), &quoted[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

/// RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::MediaType;

    #[test]
    fn type_and_charset() {
        for (text, essence, charset) in [
            ("text/html", "text/html", None),
            (" Text/HTML ; Charset=UTF-8", "text/html", Some("utf-8")),
            ("text/html;charset=\"iso-8859-1\"", "text/html", Some("iso-8859-1")),
            ("text/html; a=\"x;charset=b\"; charset=c", "text/html", Some("c")),
            ("text/html; charset=a; charset=b", "text/html", Some("a")),
            ("text/html; charset=\"u\\tf-8\"", "text/html", Some("utf-8")),
            ("text/html; charset", "text/html", None),
            ("text/html;;;", "text/html", None),
            ("text/html; charset=; x", "text/html", None),
            ("text/html; charset=\"utf-8", "text/html", Some("utf-8")),
            ("application/rss+xml; q=ü; charset=x", "application/rss+xml", Some("x")),
        ] {
            let parsed = MediaType::parse(text).unwrap();
            assert_eq!((parsed.essence(), parsed.charset()), (essence, charset), "{text}");
        }
    }

    #[test]
    fn what_is_no_media_type() {
        for text in ["", "text", "/", "text/", "/html", "text html/x", "a/b/c", "text/html, x"] {
            assert_eq!(MediaType::parse(text), None, "{text}");
        }
    }
}
