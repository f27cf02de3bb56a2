//! Tables that span, hold paragraphs, or only place what is in them.

use super::rules::check;

#[test]
fn spans_leave_cells_empty() {
    check(&[
        (
            "<table><tr><th colspan=2>A<th>B<tr><td>1<td>2<td>3</table>",
            "| A | | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
        ),
        (
            "<table><tr><th>A<th>B<tr><td rowspan=2>1<td>2<tr><td>3<tr><td>4<td>5</table>",
            "| A | B |\n| --- | --- |\n| 1 | 2 |\n| | 3 |\n| 4 | 5 |",
        ),
        // What spans rows ends with its group, and with the table.
        (
            "<table><thead><tr><th rowspan=9>A<th>B</thead><tbody><tr><td>1<td rowspan=0>2<tr><td>3</table>",
            "| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | |",
        ),
        // A column that no cell begins in is none.
        ("<table><tr><td colspan=5>a<tr><td colspan=5>b</table>", "| |\n| --- |\n| a |\n| b |"),
        (
            "<table><tr><td>a<td colspan=x>b<tr><td colspan=0>c<td>d</table>",
            "| | |\n| --- | --- |\n| a | b |\n| c | d |",
        ),
    ]);
}

#[test]
fn cells_hold_paragraphs() {
    check(&[
        (
            "<table><tr><th>A<th>B<tr><td><p>a<p>b<td><div>c<div>d</div></div>e</table>",
            "| A | B |\n| --- | --- |\n| a<br><br>b | c<br><br>d<br><br>e |",
        ),
        (
            "<table><tr><th>A<tr><td><code>#\\|</code> <code>a|b</code></table>",
            "| A |\n| --- |\n| <code>#\\\\\\|</code> `a\\|b` |",
        ),
        (
            "<table><tr><th>A<tr><td><p>a<pre>b</pre></table>",
            "<table>\n<tr>\n<th>A</th>\n</tr>\n<tr>\n<td>\n<p>a</p>\n<pre><code>b</code></pre>\n</td>\n</tr>\n</table>",
        ),
    ]);
}

#[test]
fn blocks_over_the_whole_width_are_no_cells() {
    check(&[
        (
            "<table><tr><td>a<td>b<tr><td colspan=2><ul><li>c</ul><tr><td>d<td>e</table>",
            "a\n\nb\n\n- c\n\nd\n\ne",
        ),
        ("<table><tr><td colspan=2><p>a<p>b<tr><td colspan=2>c</table>", "a\n\nb\n\nc"),
    ]);
}

#[test]
fn spans_beyond_measure_take_no_room() {
    let wide = "<tr><td colspan=1000 rowspan=65534>a".repeat(300);
    let found = super::body(&format!("<table><tr><th>h{wide}</table>"));
    assert!(found.starts_with("<table>\n"), "{}", &found[..found.len().min(80)]);
    assert!(found.len() < 300 * 60, "{} bytes", found.len());
}
