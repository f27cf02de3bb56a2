//! `pagelog convert`

use std::io::Read as _;
use std::path::Path;
use std::{fs, io};

use super::options::ConvertArguments;
use super::output::Output;
use super::{Ending, Failure};
use crate::archive::encode_links;
use crate::extract::html::{HtmlDocument, Selectors, extract_html};
use crate::extract::{Document, Markup, Noise, extract};
use crate::model::{Link, Note, PageUrl};

/// The base of a file for which none is given.
const NO_BASE: &str = "https://file.invalid/";

/// What a conversion gives, whatever the file was.
struct Converted {
    body: String,
    links: Vec<Link>,
    notes: Vec<Note>,
}

pub(crate) fn convert(arguments: &ConvertArguments, output: &Output) -> Result<Ending, Failure> {
    let name = arguments.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let base = match &arguments.base {
        Some(text) => PageUrl::parse(text),
        None => PageUrl::parse(NO_BASE).and_then(|base| base.join(&name)),
    };
    let base = base.map_err(|refusal| Failure::Usage(format!("the base: {refusal}")))?;
    let bytes = read(&arguments.file)?;
    if bytes.starts_with(b"%PDF-") {
        let text = format!("{name} is a PDF document; this version converts HTML and Markdown");
        return Err(Failure::Usage(text));
    }
    let converted = if is_html(&name, &bytes) {
        convert_html(arguments, (&name, &bytes), &base)?
    } else {
        convert_markdown((&name, &bytes), &base)?
    };
    for note in &converted.notes {
        output.warn(&note.0);
    }
    if arguments.links {
        output.bytes(&encode_links(&converted.links))?;
    } else {
        output.data(&converted.body)?;
    }
    Ok(Ending::Done)
}

/// The bytes of a file, or of standard input for `-`.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::File { what: "read", path: path.display().to_string(), error };
    if path.as_os_str() != "-" {
        return fs::read(path).map_err(failed);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Whether a file is HTML: by its name, else by how it begins.
fn is_html(name: &str, bytes: &[u8]) -> bool {
    match ending(name).as_str() {
        "html" | "htm" | "xhtml" => true,
        "md" | "markdown" | "txt" | "rst" | "adoc" | "asciidoc" => false,
        _ => {
            let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
            let start = start[..start.len().min(64)].to_ascii_lowercase();
            ["<!doctype", "<html", "<head", "<body", "<?xml", "<!--", "<div", "<main", "<article"]
                .iter()
                .any(|tag| start.starts_with(tag.as_bytes()))
        }
    }
}

/// What stands behind the last dot of a file's name, in lower case.
fn ending(name: &str) -> String {
    Path::new(name).extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn convert_html(
    arguments: &ConvertArguments,
    (name, bytes): (&str, &[u8]),
    base: &PageUrl,
) -> Result<Converted, Failure> {
    let selectors = Selectors::new(&arguments.main, &arguments.drop)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let noise = Noise::default();
    let page = extract_html(&HtmlDocument {
        bytes,
        charset: None,
        name,
        base,
        selectors: &selectors,
        noise: &noise,
        bot: "",
    });
    Ok(Converted { body: page.body, links: page.links, notes: page.notes })
}

fn convert_markdown((name, bytes): (&str, &[u8]), base: &PageUrl) -> Result<Converted, Failure> {
    let noise = Noise::default();
    let markup = match ending(name).as_str() {
        "rst" | "adoc" | "asciidoc" | "txt" => Markup::Text,
        _ => Markup::Markdown,
    };
    let document = Document { bytes, markup, name, base, noise: &noise };
    let page = extract(&document).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    Ok(Converted { body: page.body, links: page.links, notes: page.notes })
}
