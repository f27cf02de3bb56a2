//! Pages that say of themselves that they are not the page that was asked for, although
//! they came with status 200: errors, logins, challenges.
//!
//! The text decides, and only of short pages: a long article on status 404 is an article.

/// Words of a page beyond which it is an article, whatever its title is.
const SHORT: usize = 220;

/// Titles of pages that stand for an error, as they are or in front of `-`, `|`, `:`.
const ERRORS: [&str; 22] = [
    "404",
    "404 error",
    "404 not found",
    "error 404",
    "not found",
    "page not found",
    "404 - page not found",
    "404 - content not found",
    "content not found",
    "page unavailable",
    "this page isn't available",
    "the page you requested was not found",
    "we couldn't find that page",
    "410 gone",
    "500 internal server error",
    "internal server error",
    "502 bad gateway",
    "bad gateway",
    "503 service unavailable",
    "service unavailable",
    "service temporarily unavailable",
    "504 gateway time-out",
];

/// Titles of pages that let only known people in.
const LOGINS: [&str; 14] = [
    "sign in",
    "sign in to your account",
    "log in",
    "login",
    "log in to your account",
    "log on",
    "please log in",
    "please sign in",
    "authentication required",
    "access denied",
    "403 forbidden",
    "forbidden",
    "401 unauthorized",
    "unauthorized",
];

/// How titles of pages begin that ask for a proof of being human.
const CHALLENGES: [&str; 9] = [
    "just a moment",
    "verifying you are human",
    "attention required!",
    "are you a robot?",
    "verify you are human",
    "security check",
    "checking your browser",
    "ddos protection",
    "captcha",
];

/// What a page with that title and text stands for, where that is not itself.
#[must_use]
pub fn soft_error(title: &str, body: &str) -> Option<&'static str> {
    if body.split_whitespace().take(SHORT + 1).count() > SHORT {
        return None;
    }
    let title = title.trim().to_lowercase().replace('\u{2019}', "'").replace('\u{2026}', "...");
    let parts = || {
        let cut = title.split([':', '|', '\u{2013}', '\u{2014}', '\u{b7}']);
        let cut = cut.chain(title.split(" - ")).map(str::trim);
        cut.chain([title.as_str()])
    };
    let is = |list: &[&str]| parts().any(|part| list.contains(&part));
    if is(&ERRORS) {
        Some("an error page that came with status 200")
    } else if is(&LOGINS) {
        Some("a login page that came with status 200")
    } else if CHALLENGES.iter().any(|challenge| title.starts_with(challenge)) {
        Some("a challenge to browsers that came with status 200")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::soft_error;

    #[test]
    fn pages_that_stand_for_something_else() {
        for (title, what) in [
            ("404 - Content not found | Example Docs", "an error page"),
            ("Page not found", "an error page"),
            ("Example Docs: Page Not Found", "an error page"),
            ("Sign in to your account", "a login page"),
            ("Access Denied", "a login page"),
            ("Just a moment\u{2026}", "a challenge"),
            ("Checking your browser before you go on", "a challenge"),
        ] {
            let found = soft_error(title, "Sorry, try again.\n");
            assert!(found.is_some_and(|found| found.starts_with(what)), "{title}: {found:?}");
        }
    }

    #[test]
    fn articles_stay_articles() {
        let short = "Sign in with a passkey by choosing it in the menu.\n";
        for title in ["Sign in with a passkey", "Errors", "Why 404 is not found in logs", "API"] {
            assert_eq!(soft_error(title, short), None, "{title}");
        }
        assert_eq!(soft_error("404 Not Found", &"word ".repeat(400)), None);
        assert_eq!(soft_error("", ""), None);
    }
}
