//! Links and headings of Markdown, case by case.

use super::super::tests::Base;
use super::*;

/// `to|text|rel` of each link, `to` without the base's directory.
fn links(text: &str) -> Vec<String> {
    let mut links = Links::new(&Base);
    read(text, &mut links);
    let (found, notes) = links.finish();
    assert!(notes.is_empty(), "{text}: {notes:?}");
    let short = |url: &str| url.replace("https://base.example/dir/", "");
    found.iter().map(|it| format!("{}|{}|{}", short(it.to.as_str()), it.text, it.rel)).collect()
}

fn check(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(links(text), *expected, "{text}");
    }
}

#[test]
fn markdown_links() {
    check(&[
        ("[a](b)", &["b|a|"]),
        ("[a\n  *b*  `c`](<d> \"t\")", &["d|a b c|"]),
        ("[a][x] [x][] [x]\n\n[X]: y", &["y|a|", "y|x|"]),
        ("[a]: b\n", &[]),
        ("[a](#b) [c]() [d](mailto:e) [f](javascript:g)", &[]),
        (
            "<https://a.example/x> <someone@a.example>",
            &["https://a.example/x|https://a.example/x|"],
        ),
        ("![i](p.png)", &[]),
        ("[![alt *x*](p.png) t](u)", &["u|alt x t|"]),
        ("![a [b](c) https://d.example](e)", &[]),
        ("[a](b) [a](b)", &["b|a|"]),
        ("[b](z)\n[a](z)\n[c](y)", &["y|c|", "z|a|", "z|b|"]),
        ("`[a](b)`\n\n    [a](b)\n\n```\n[a](b)\n```", &[]),
        ("|[a](b)|\n|---|\n|[c](d)|", &["b|a|", "d|c|"]),
        ("x[^1]\n\n[^1]: [a](b)", &["b|a|"]),
        ("- [ ] [a](b)\n  > [c](d)", &["b|a|", "d|c|"]),
        ("> [!NOTE]\n> See [a](b).", &["b|a|"]),
        ("[!INCLUDE [part](part.md)]", &["part.md|part|"]),
        ("[a\tb&nbsp;c](d)", &["d|a b c|"]),
        ("[](x)", &["x||"]),
        ("# [a](b) {#c}", &["b|a|"]),
    ]);
}

#[test]
fn bare_addresses() {
    let bare = "https://a.example/x|https://a.example/x|";
    check(&[
        ("see https://a.example/x.", &[bare]),
        ("**https://a.example/x** (_https://a.example/x_)", &[bare]),
        ("www.a.example", &["http://www.a.example/|www.a.example|"]),
        ("https://a.example/x_y_z", &["https://a.example/x_y_z|https://a.example/x_y_z|"]),
        ("https://a.example/?b&amp;c", &["https://a.example/?b&c|https://a.example/?b&c|"]),
        ("`https://a.example/x`\n\n    https://a.example/x\n", &[]),
        ("~~~\nhttps://a.example/x\n~~~", &[]),
        ("[https://a.example/x](b)", &["b|https://a.example/x|"]),
        ("<b>https://a.example/x</b>", &[bare]),
        ("a**www.b.example**", &["http://www.b.example/|www.b.example|"]),
        ("[a](b)www.c.example `d`www.e.example", &["b|a|"]),
        ("<div>\nhttps://a.example/x\n</div>", &[]),
        ("# https://a.example/x", &[bare]),
    ]);
}

#[test]
fn html_links() {
    check(&[
        ("x <a href='b'>a *c* `d`</a> e", &["b|a c d|"]),
        ("x <A\nHREF=b REL=\"UGC noopener nofollow\">a</A>", &["b|a|nofollow ugc"]),
        ("<a href=\"b?c&amp;d\"><img alt=e src=f></a>", &["b?c&d|e|"]),
        ("<p>\n<a href=b>a<br/>c</a>\n</p>", &["b|a c|"]),
        ("x <a href=b>a <a href=c>d</a> e", &["b|a|", "c|d|"]),
        ("x <a href=b>a\n\nother", &["b|a|"]),
        ("- <a href=b>a\n- other", &["b|a|"]),
        ("<td><a href=b>a</td><td>c</td>", &["b|a|"]),
        ("<a href=b>\n<div>a</div><div>c</div></a>", &["b|a c|"]),
        ("<a href=b>\n\n![alt](p)\n\n</a>\n\nafter", &["b|alt|"]),
        ("x <a name=n>https://a.example/x</a>", &["https://a.example/x|https://a.example/x|"]),
        ("x <a href=b>https://a.example/x</a>", &["b|https://a.example/x|"]),
        ("[a <a href=b>c</a> d](e)", &["b|c|", "e|a|"]),
        ("<!-- <a href=b>a</a> -->", &[]),
        ("x <!-- <a href=b>a</a> --> y", &[]),
        ("<pre><a href=b>a</a></pre>", &["b|a|"]),
        ("<script>\n'<a href=b>a</a>'\n</script>", &[]),
        ("`<a href=b>`", &[]),
        ("x <a href=' b\n'>a</a>", &["b|a|"]),
    ]);
}

#[test]
fn what_is_too_deep_has_bare_addresses_only() {
    let mut links = Links::new(&Base);
    let text = format!("{}[a](b) https://a.example/x\n# h", ">".repeat(300));
    assert_eq!(read(&text, &mut links), None);
    let (found, notes) = links.finish();
    assert_eq!(found.len(), 1);
    assert_eq!(notes[0].0, "searched for bare addresses only: nested too deeply");
}
