//! Small pages, one a rule: what stands left becomes what stands right.

use super::*;

pub(super) fn check(cases: &[(&str, &str)]) {
    for (html, markdown) in cases {
        let found = body(html);
        assert_eq!(found.trim_end_matches('\n'), *markdown, "{html}");
    }
}

#[test]
fn paragraphs_and_headings() {
    check(&[
        ("<p>a\n  b</p><p>c", "a b\n\nc"),
        ("<h1>A</h1><h6>B</h6>text", "# A\n\n###### B\n\ntext"),
        ("<h2>A<a class=headerlink href='#a'>¶</a></h2>", "## A"),
        ("<h2><a href='#a'>#</a> A</h2>", "## A"),
        ("<h2>C# #</h2>", "## C# \\#"),
        ("<h2>a<br>b</h2>", "## a<br>b"),
        ("<h2> </h2><p> </p><p>&nbsp;</p>x", "x"),
        ("a<hr>b", "a\n\n***\n\nb"),
        ("one<br>two", "one\\\ntwo"),
        ("one<br><br>two<br>", "one\n\ntwo"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("a<wbr>b<!-- c -->d", "abd"),
        ("<center><font>x</font></center>", "x"),
        (
            "<p>a <span>b<table><tr><td>c</table>(d</span>), e",
            "a b\n\n| |\n| --- |\n| c |\n\n(d), e",
        ),
    ]);
}

#[test]
fn headings_around_blocks() {
    check(&[
        ("<h2>A<table><tr><td>1</table>", "## A\n\n| |\n| --- |\n| 1 |"),
        ("<h2>A<pre>b</pre> c</h2>d", "## A\n\n```\nb\n```\n\n## c\n\nd"),
        ("<h3>A<div><h3>B</h3><h3>C</h3></div>", "### A\n\n### B\n\n### C"),
        ("<h3>A<div> b<ul><li>c</ul></div>", "### A b\n\n- c"),
        // A heading that something else places stays whole.
        ("<h1><div>A</div><p>b</p></h1>", "# A b"),
        ("<h1><table><tr><td>A<td>b</table></h1>", "# A b"),
        ("<h4><table><tr><td>A<tr><td>b</table>", "| |\n| --- |\n| A |\n| b |"),
    ]);
}

#[test]
fn emphasis() {
    check(&[
        ("<b>a</b> <i>b</i> <s>c</s>", "**a** *b* ~~c~~"),
        ("x<b> a </b>y", "x **a** y"),
        ("a<em>b</em>c", "a*b*c"),
        ("a<b>(b)</b>c", "a<strong>(b)</strong>c"),
        ("<b><i>a</i></b>", "**_a_**"),
        ("<i>a</i><b>b</b>", "*a*__b__"),
        ("<b>a <b>b</b></b>", "**a b**"),
        ("<b></b>x<b> </b>y", "x y"),
        ("<b>a<br></b>b", "**a**\\\nb"),
        ("H<sub>2</sub>O <kbd>Ctrl</kbd>", "H<sub>2</sub>O <kbd>Ctrl</kbd>"),
        ("<em>«a»</em>b", "<em>«a»</em>b"),
    ]);
}

#[test]
fn only_what_has_to_be_is_escaped() {
    check(&[
        ("snake_case __init__ 2 * 3 *a*", "snake_case \\_\\_init\\_\\_ 2 * 3 \\*a\\*"),
        (
            "<p># a<p>#a<p>- a<p>-a<p>+ a<p>1. a<p>1.5<p>12) b",
            "\\# a\n\n#a\n\n\\- a\n\n-a\n\n\\+ a\n\n1\\. a\n\n1.5\n\n12\\) b",
        ),
        (
            "<p>&gt; a<p>a > b<p>---<p>***<p>~~~",
            "\\> a\n\na > b\n\n\\---\n\n\\*\\*\\*\n\n\\~\\~\\~",
        ),
        ("a &lt;b&gt; 1 &lt; 2 &amp;amp; R&amp;D", "a \\<b> 1 < 2 \\&amp; R&D"),
        ("[a] [b](c) [^1] a[0]", "[a] [b\\](c) \\[^1] a[0]"),
        ("<p>[a]: b<p>[x] y", "\\[a]: b\n\n\\[x] y"),
        ("C:\\dir \\* `x`", "C:\\dir \\\\\\* \\`x\\`"),
        ("!<a href=/x>a</a>", "\\![a](https://base.example/x)"),
        ("~/a ~b~ $a$ $5", "~/a ~b\\~ \\$a$ $5"),
        ("$ a$ $&nbsp;b$", "$ a$ \\$\u{a0}b$"),
        ("a<br>= b<br>- c<br>| d", "a\\\n\\= b\\\n\\- c\\\n\\| d"),
        ("at https://a.example/x, a@b.example", "at https\\://a.example/x, a\\@b.example"),
        ("at https://a@b.example/, xhttp://a", "at https\\://a\\@b.example/, xhttp\\://a"),
        ("<a href='#a'>a[]()</a>", "[a\\[\\]()](#a)"),
    ]);
}

#[test]
fn code() {
    check(&[
        ("<pre>a\n  b\n</pre>", "```\na\n  b\n```"),
        ("<pre><code class='x language-rust'>let <b>a</b>;</code></pre>", "```rust\nlet a;\n```"),
        (
            "<div class='highlight-sh notranslate'><div class=highlight><pre>ls</pre></div></div>",
            "```sh\nls\n```",
        ),
        ("<pre class='prettyprint lang-js'>x</pre>", "```js\nx\n```"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````"),
        ("<pre>\n\n a\n\n\n</pre>", "```\n\n a\n\n\n```"),
        ("<pre><span>a</span> <a href=x>b</a></pre>", "```\na b\n```"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
        ("<ul><li>a<pre>b\n\n\tc</pre></ul>", "- a\n\n  ```\n  b\n\n  \tc\n  ```"),
        ("<code>a ` b</code> <code>`</code> <tt>c</tt>", "``a ` b`` `` ` `` `c`"),
        ("<code>f(<a href=/t>T</a>)</code>", "`f(`[`T`](https://base.example/t)`)`"),
        ("<code>a</code><code>b</code> <code>a\n b</code>", "`ab` `a b`"),
        ("<a href=/x><code>a</code></a>", "[`a`](https://base.example/x)"),
    ]);
}

#[test]
fn links_and_images() {
    check(&[
        ("<a href=b#c>t</a>", "[t](https://base.example/dir/b#c)"),
        ("<a href='#c'>t</a> <a name=c>u</a>", "[t](#c) u"),
        ("<a href=https://a.example/>https://a.example/</a>", "<https://a.example/>"),
        (
            "<a href='javascript:x()'>t</a> <a href=mailto:a@b.example>m</a>",
            "t [m](mailto:a@b.example)",
        ),
        ("<a href='https://u:p@a.example/'>t</a>", "t"),
        (
            "<a href='x(1'>t</a> <a href='x(1)'>t</a>",
            "[t](https://base.example/dir/x%281) [t](https://base.example/dir/x(1))",
        ),
        ("a<a href=x> t </a>b", "a [t](https://base.example/dir/x) b"),
        (
            "<a href=x>[a</a> <a href=x>[b]</a>",
            "[\\[a](https://base.example/dir/x) [[b]](https://base.example/dir/x)",
        ),
        (
            "<a href=x><h3>A</h3><p>b</p></a>",
            "### [A](https://base.example/dir/x)\n\n[b](https://base.example/dir/x)",
        ),
        ("<a href=x></a>", "[](https://base.example/dir/x)"),
        (
            "<a href=''>t</a> <a href=' '>u</a> <a>v</a>",
            "[t](https://base.example/dir/page) [u](https://base.example/dir/page) v",
        ),
        ("<img src=i.png alt='a [b]'>", "![a [b]](https://base.example/dir/i.png)"),
        (
            "<a href=x><img src=i.png></a>",
            "[![](https://base.example/dir/i.png)](https://base.example/dir/x)",
        ),
        ("<img src='data:image/png;base64,AA' alt=a><img src='data:x'>", "![a]()"),
        (
            "<picture><source srcset='b.webp 2x, c.webp'><img alt=a></picture>",
            "![a](https://base.example/dir/b.webp)",
        ),
        (
            "<figure><img src=i.png alt=a><figcaption>Cap</figcaption></figure>",
            "![a](https://base.example/dir/i.png)\n\nCap",
        ),
    ]);
}

#[test]
fn lists() {
    check(&[
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<ul><li><p>a</p><li><p>b</p></ul>", "- a\n- b"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
        ("<ol><li value=3>a<ul><li>b</ul></ol>", "3. a\n   - b"),
        ("<ul><li>a<p>b</p><li>c</ul>", "- a\n\n  b\n\n- c"),
        ("<ul><li>a</ul><ul><li>b</ul><ol><li>c</ol>", "- a\n\n<!-- -->\n\n- b\n\n1. c"),
        ("<ul><li>a</li><ul><li>b</ul></ul>", "- a\n  - b"),
        ("<ul><li></li><li>b</ul>", "-\n- b"),
        ("<ul><li><hr><li><ul><li>a</ul></ul>", "- ***\n\n- - a"),
        (
            "<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>",
            "- [x] a\n- [ ] b",
        ),
        ("<ul>text</ul>", "text"),
        ("<ul><li>a<ol start=2><li>b</ol></ul>", "- a\n\n  2. b"),
        (
            "<dl><dt>A<dt>B<dd>x<dd><p>y</p><dt>C</dl>",
            "- **A**\\\n  **B**\n\n  x\n\n  y\n\n- **C**",
        ),
        ("<dl><div><dt>A<dd>x</div></dl>", "- **A**\n\n  x"),
        ("<blockquote>a<p>b</blockquote><blockquote>c</blockquote>", "> a\n>\n> b\n\n> c"),
        ("<blockquote><ul><li>a<p>b</ul></blockquote>", "> - a\n>\n>   b"),
        ("<blockquote></blockquote>a", "a"),
    ]);
}

#[test]
fn tables() {
    check(&[
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<table><tr><td>1<td>a|b<tr><td>2</table>",
            "| | |\n| --- | --- |\n| 1 | a\\|b |\n| 2 | |",
        ),
        ("<table><thead><tr><td>A</thead><tr><td><p>x</p></table>", "| A |\n| --- |\n| x |"),
        (
            "<table><tr><td>a<br>b<td><code>x|y</code></table>",
            "| | |\n| --- | --- |\n| a<br>b | `x\\|y` |",
        ),
        ("<table><caption>C</caption><tr><th>A</table>", "C\n\n| A |\n| --- |"),
        (
            "<table><tr><td colspan=2>a<tr><td>b<td><ul><li>c</ul></table>",
            "<table>\n<tr>\n<td colspan=\"2\">a</td>\n</tr>\n<tr>\n<td>b</td>\n<td>\n<ul>\n<li>c</li>\n</ul>\n</td>\n</tr>\n</table>",
        ),
        (
            "<table><tr><th>a<td><pre>b &lt;\n\n\nc</pre></table>",
            "<table>\n<tr>\n<th>a</th>\n<td>\n<pre><code>b &lt;\n&#10;&#10;c</code></pre>\n</td>\n</tr>\n</table>",
        ),
        ("<table role=presentation><tr><td><p>a<td><p>b</table>", "a\n\nb"),
        ("<table><tr><td><p>a<pre>b</pre></table>", "a\n\n```\nb\n```"),
        ("<table><tr><td><p>a<td><ul><li>b</ul></table>", "a\n\n- b"),
        (
            "<table class=highlighttable><tr><td class=linenos><pre>1</pre><td><pre>x</pre></table>",
            "```\nx\n```",
        ),
    ]);
}

#[test]
fn boxes() {
    check(&[
        (
            "<div class='admonition note'><p class=admonition-title>Note</p><p>a</div>",
            "> [!NOTE]\n> a",
        ),
        (
            "<div class='admonition danger'><p class=admonition-title>Danger</p><p>a</div>",
            "> [!CAUTION]\n> **Danger**\n>\n> a",
        ),
        (
            "<div class='theme-admonition theme-admonition-tip alert alert--success'><div class='admonitionHeading_x'>tip</div><div>a</div></div>",
            "> [!TIP]\n> a",
        ),
        (
            "<div class='admonitionblock warning'><table><tr><td class=icon><div class=title>Warning</div><td class=content>a</table></div>",
            "> [!WARNING]\n> a",
        ),
        (
            "<aside class=caution><strong>Caution:</strong><span> a</span></aside>",
            "> [!CAUTION]\n> a",
        ),
        ("<div class=NOTE><p>Note</p><p>a</div>", "> [!NOTE]\n> a"),
        (
            "<div class=awsdocs-note><div class=awsdocs-note-title><h6>Important</h6></div><div class=awsdocs-note-text>a</div></div>",
            "> [!NOTE]\n> **Important**\n>\n> a",
        ),
        ("<div class='alert alert-warning'>a</div>", "> [!WARNING]\n> a"),
        (
            "<div class='admonition seealso'><p class=admonition-title>See also</p><p>a</div>",
            "> **See also**\n>\n> a",
        ),
        ("<section class=note><p>Note: a</section>", "> Note: a"),
        (
            "<div class='alert alert-note'><blockquote><p class=alert-title>Note</p><p>a</blockquote></div>",
            "> [!NOTE]\n> a",
        ),
        ("<div class=note><h3>Note</h3>a</div>", "> ### Note\n>\n> a"),
        (
            "<details><summary>S &amp; <b>b</b></summary><p>a</details>b",
            "<details>\n<summary>S &amp; <strong>b</strong></summary>\n\na\n\n</details>\n\nb",
        ),
        ("<details open><summary>S</summary>a</details>", "S\n\na"),
        (
            "<div><ul role=tablist><li><a role=tab>X</a><li><a role=tab>Y</a></ul><div role=tabpanel>a</div><div role=tabpanel hidden>b</div></div>",
            "**X**\n\na\n\n**Y**\n\nb",
        ),
        (
            "a<sup><a href='#f' data-footnote-ref>1</a></sup><section class=footnotes><ol><li id=f>b <a data-footnote-backref href='#r'>↩</a></ol></section>",
            "a[^1]\n\n[^1]: b",
        ),
        (
            "<a class=footnote-reference href='#f'>[1]</a><aside class=footnote id=f>b</aside>",
            "[[1]](#f)\n\nb",
        ),
        (
            "<math><mi>x</mi><annotation encoding='application/x-tex'>x_1</annotation></math>",
            "$x_1$",
        ),
        ("<math display=block alttext='a*b'><mi>x</mi></math>", "$$a*b$$"),
    ]);
}

#[test]
fn what_is_no_content() {
    check(&[
        ("<nav>n</nav><script>s</script><style>t</style><template>u</template>a", "a"),
        (
            "a<p hidden>b</p><p style='color:red; DISPLAY : none'>c</p><p hidden=until-found>d",
            "a\n\nd",
        ),
        ("a<span aria-hidden=true>→</span><span aria-hidden=true>b</span>", "ab"),
        ("<header>m</header><header><h1>T</h1></header><footer>f</footer>", "# T"),
        ("<button>b</button><select><option>o</select><textarea>t</textarea>a", "a"),
        ("a<noscript>n</noscript><svg><text>s</text></svg><iframe>i</iframe>", "a"),
        ("<div class=breadcrumb>b</div><devsite-feedback>f</devsite-feedback>a", "a"),
    ]);
}

#[test]
fn the_content_is_chosen() {
    let cases = [
        ("x<main>a</main>", "a", true),
        ("x<article>a</article>", "a", true),
        ("x<article>a</article><article>b</article>", "x\n\na\n\nb", false),
        ("x<div role=main>a</div>", "a", true),
        ("<main> </main><div class=body>a</div>", "a", true),
        ("<nav>n</nav><header>h</header><aside>s</aside><p>a</p><footer>f</footer>", "a", false),
        ("", "", false),
    ];
    for (html, markdown, known) in cases {
        let found = page(html);
        assert_eq!(found.body.trim_end(), markdown, "{html}");
        assert_eq!(found.notes.is_empty(), known, "{html}: {:?}", found.notes);
    }
    let selectors = Selectors::new(&["div.c".to_owned()], &[".x, i".to_owned()]).unwrap();
    let learn = "<main><div class=c><h1>A</h1></div>n<div class=c>b<p class=x>c</p><i>d</i></div>";
    let found = with(learn, &selectors);
    assert_eq!((found.body.as_str(), found.notes.len()), ("# A\n\nb\n", 0));
    let missed = with("<main>a", &selectors);
    assert_eq!((missed.body.as_str(), missed.notes.len()), ("a\n", 1));
}

#[test]
fn what_stands_around_the_text() {
    let found = page(
        "<title>Site: T</title><base href=/b/><link rel=canonical href=https://base.example/c>\
         <link rel=alternate type=text/markdown href=t.md><meta name=robots content=noarchive>\
         <nav><a href=n>N</a><a href=z rel=nofollow>Z</a><a href='mailto:x'>M</a></nav>\
         <main><h1>The <em>T</em></h1><a href=m#f rel='nofollow noopener'> In\n it </a>\
         <a href='#x'>y</a></main>",
    );
    assert_eq!(found.title, "The T");
    assert!(
        found.body.contains("[In it](https://base.example/b/m#f) [y](https://base.example/b/#x)")
    );
    let urls = |urls: &[PageUrl]| urls.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(urls(&found.outside_links), ["https://base.example/b/n"]);
    let links: Vec<_> =
        found.links.iter().map(|it| (it.to.as_str(), it.text.as_str(), it.rel.as_str())).collect();
    let own = ("https://base.example/b/", "y", "");
    assert_eq!(links, [own, ("https://base.example/b/m", "In it", "nofollow")]);
    assert_eq!(found.canonical.unwrap().as_str(), "https://base.example/c");
    assert_eq!(found.markdown.unwrap().as_str(), "https://base.example/b/t.md");
    assert!(found.robots.noarchive && !found.robots.noindex);
    assert_eq!(found.charset, "UTF-8");
}

#[test]
fn titles() {
    let cases = [
        ("<title>a</title><main><h2>b</h2></main>", "a"),
        ("<title>a</title><main><h2>b</h2><h1>c</h1></main>", "c"),
        ("<main><h2>b</h2></main>", "b"),
        ("<main>x</main>", "scale.html"),
        ("<title> </title>", "scale.html"),
        ("<h1>a<a class=headerlink href='#a'>¶</a></h1>", "a"),
    ];
    for (html, title) in cases {
        assert_eq!(page(html).title, title, "{html}");
    }
}

#[test]
fn noise_is_removed_from_the_markdown() {
    let volatile = Volatile { keys: vec![], patterns: vec!["(?m)^Built .*\n".to_owned()] };
    let noise = Noise::new(&volatile).unwrap();
    let document = HtmlDocument {
        bytes: b"<main>a<p>Built today</p></main>",
        charset: None,
        name: "",
        base: &Base,
        selectors: &Selectors::default(),
        noise: &noise,
        bot: "",
    };
    assert_eq!(extract_html(&document).body, "a\n");
}

#[test]
fn meanings_beside_each_other_stay_apart() {
    check(&[
        (
            "<dl><dt>T<dd><code>a</code> one<dd><code>b</code> two</dl>",
            "- **T**\n\n  `a` one\n\n  `b` two",
        ),
        ("<ul><li>one</li>two<li>three</ul>", "- one\n  two\n- three"),
    ]);
}

#[test]
fn code_around_code_is_one_block() {
    check(&[
        ("<pre><code><div><pre>a\n b\n</pre></div>\n</code></pre>", "```\na\n b\n```"),
        ("<pre>a<pre>b</pre></pre>", "```\na\nb\n```"),
    ]);
}

#[test]
fn dollars_are_no_mathematics() {
    check(&[
        ("<p>from $A/b to $C/d", "from \\$A/b to $C/d"),
        ("<p>is $HOME or <code>$PATH</code>", "is \\$HOME or `$PATH`"),
        ("<p>'$M', <b>or</b> '$F'1", "'\\$M', **or** '$F'1"),
        ("<p>for 5 $ a day, 6 $", "for 5 $ a day, 6 $"),
    ]);
}

#[test]
fn an_anchor_is_no_container() {
    let html = "<body><p>All of <a id=main href=#main>the text</a> stays.";
    assert_eq!(page(html).body, "All of [the text](#main) stays.\n");
}

#[test]
fn tabs_that_choose_rows_name_nothing() {
    check(&[(
        "<div role=tablist><button role=tab aria-controls=p>All</button>\
         <button role=tab aria-controls=p>Some</button></div><div role=tabpanel id=p>rows</div>",
        "rows",
    )]);
}

#[test]
fn areas_are_links_that_show_nothing() {
    let found = page(
        "<main>a<map name=m><area href=x alt='the  x' rel=nofollow><area href='#y'></map>\
         <div hidden><map><area href=z></map></div></main>",
    );
    assert_eq!(found.body, "a\n");
    let links: Vec<(&str, &str)> =
        found.links.iter().map(|it| (it.to.as_str(), it.text.as_str())).collect();
    assert_eq!(links, [("https://base.example/dir/x", "the x")]);
}
