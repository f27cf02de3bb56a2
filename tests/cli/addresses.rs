//! Addresses and paths: the mapping, both ways.

use super::scene::Scene;

const A: &str = "https://open.git.invalid/guide/a.md";

#[test]
fn paths_and_urls_both_ways() {
    let scene = Scene::new();
    let path = "pages/open/open.git.invalid/guide/a.md";
    assert_eq!(scene.told(&["path", A]), format!("{path}\n"));
    assert_eq!(scene.told(&["url", path]), format!("{A}\n"));
    let links = "links/open/open.git.invalid/guide/a.tsv";
    assert_eq!(scene.told(&["url", links]), format!("{A}\n"));
    // Nor does a file have to exist for that.
    let path = "pages/open/open.git.invalid/not/yet.md";
    let url = "https://open.git.invalid/not/yet.md";
    assert_eq!(scene.told(&["path", url]), format!("{path}\n"));
    assert_eq!(scene.told(&["url", path]), format!("{url}\n"));
    // An address of no source has a path too, which is told apart.
    let path = "pages/open/open.git.invalid/guide/a.md";
    let ended = scene.world.pagelog(&["path", "https://docs.example.org/a/?b=c"]).exits(0);
    assert_eq!(ended.stdout, "docs.example.org/a/index!-b=c.md\n");
    assert!(ended.stderr.contains("not in the scope of any source"), "{}", ended.stderr);
    let back = scene.told(&["url", ended.stdout.trim()]);
    assert_eq!(back, "https://docs.example.org/a/?b=c\n");
    for spelling in [
        "HTTPS://Open.git.invalid:443/guide/./a.md#part",
        "https://open.git.invalid/x/../guide/a.md",
    ] {
        assert_eq!(scene.told(&["path", spelling]), format!("{path}\n"), "{spelling}");
        assert_eq!(scene.told(&["show", spelling]), scene.told(&["show", A]));
    }
}
