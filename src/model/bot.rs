//! Who we are towards the hosts we read from.

/// The identity that goes with every request and stands as author of every commit.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bot {
    /// Product token of the User-Agent and of robots.txt groups: letters, `-` and `_`.
    pub name: String,
    /// Version behind the product token.
    pub version: String,
    /// Who runs the bot, for people; empty where not given.
    pub operator: String,
    /// The page that explains the bot.
    pub url: String,
    /// Mail address that is read by a person.
    pub contact: String,
    /// What the material is used for, in a sentence; empty where not given.
    pub purpose: String,
    /// Text in place of the contact in the User-Agent.
    pub comment: Option<String>,
    /// Host name that the bot's addresses resolve to and back from.
    pub reverse_dns: Option<String>,
    /// Where the list of the bot's addresses is published.
    pub ips_url: Option<String>,
    /// Ranges that requests come from; empty until the operator gives them.
    pub addresses: Vec<String>,
    /// Postal address of the operator.
    pub postal: Option<String>,
    /// How the archive may be used, for the bot page.
    pub uses: Option<String>,
    /// Local address that requests are sent from.
    pub bind: Option<std::net::IpAddr>,
}

impl Bot {
    /// The User-Agent header (RFC 9110, section 10.1.5): `name/version (+url; contact)`.
    #[must_use]
    pub fn user_agent(&self) -> String {
        let comment = self.comment.as_deref().unwrap_or(&self.contact);
        format!("{}/{} (+{}; {comment})", self.name, self.version, self.url)
    }

    /// The From header (RFC 9110, section 10.1.2).
    #[must_use]
    pub fn from_header(&self) -> &str {
        &self.contact
    }
}
