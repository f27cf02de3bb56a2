//! State and archive that do not say the same, and files of the state that are damaged.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::forge::{Forge, PUBLIC};

const PAGE: &str = "pages/open/open.git.invalid/folder/b.md";

#[test]
fn rows_and_files_are_compared_both_ways() {
    let forge = Forge::new();
    let row = "path = 'open.git.invalid/folder/b.md'";
    let id = forge.id(&format!("{PUBLIC}:{PAGE}"));
    let changes = [
        (format!("DELETE FROM page WHERE {row}"), "the state does not know it"),
        (format!("UPDATE page SET blob = '{}' WHERE {row}", "1".repeat(40)), "as the blob 111"),
        (format!("UPDATE page SET path = 'open.git.invalid/z.md' WHERE {row}"), "does not know it"),
        (format!("UPDATE page SET source = 'nobody' WHERE {row}"), "does not know it"),
    ];
    for (sql, what) in changes {
        assert_eq!(forge.state().execute(&sql, []), Ok(1));
        forge.names(["state", PAGE, what]);
        let repaired = forge.world.pagelog(&["audit", "--repair"]).exits(0);
        assert!(repaired.stderr.contains(" into step with the archive"), "{}", repaired.stderr);
        assert!(!repaired.stderr.contains("made the state anew"), "{}", repaired.stderr);
        assert_eq!(repaired.stdout, "audit: no faults\n");
        let sql = format!("SELECT blob FROM page WHERE source = 'open' AND {row}");
        let blob: String = forge.state().query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(blob, id);
    }
    for extra in ["open", "closed", "nobody"] {
        let sql = "INSERT INTO page (source, path, url, blob, run) VALUES (?1, ?2, 'x', 'x', 1)";
        assert_eq!(forge.state().execute(sql, [extra, "h.example/x.md"]), Ok(1));
        let place = format!("pages/{extra}/h.example/x.md");
        forge.names(["state", &place, "the archive does not have it"]);
    }
    let repaired = forge.world.pagelog(&["audit", "--repair"]).exits(0);
    assert!(repaired.stderr.contains("brought 3 pages of the state"), "{}", repaired.stderr);
    forge.world.assert_whole();
}

/// Writes over the second half of a file.
fn damage(path: &Path) {
    for end in ["-wal", "-shm"] {
        // What is not there need not be removed.
        let _ = fs::remove_file(format!("{}{end}", path.display()));
    }
    let mut file = fs::File::options().write(true).open(path).unwrap();
    let half = file.metadata().unwrap().len() / 2;
    file.seek(SeekFrom::Start(half)).unwrap();
    file.write_all(&vec![0x5a; usize::try_from(half).unwrap()]).unwrap();
}

#[test]
fn damaged_files_are_told_set_aside_and_made_anew() {
    for (file, told) in [("state", "made the state anew"), ("politeness", "the politeness file")] {
        let forge = Forge::new();
        let path = forge.world.archive().join(format!("pagelog/{file}.sqlite"));
        forge.state().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        damage(&path);
        forge.names(["state", &format!("{file}.sqlite"), "damaged: "]);
        let repaired = forge.world.pagelog(&["audit", "--repair"]).exits(0);
        assert!(repaired.stderr.contains("it is kept as"), "{}", repaired.stderr);
        assert!(repaired.stderr.contains(told), "{}", repaired.stderr);
        assert_eq!(repaired.stdout, "audit: no faults\n");
        forge.world.run_at("2026-12-05T02:00:00Z");
        forge.world.assert_whole();
    }
}

#[test]
fn a_damaged_index_is_found() {
    let forge = Forge::new();
    // A quick check does not compare indexes with their tables.
    let db = forge.state();
    db.execute_batch(
        "PRAGMA writable_schema = ON; \
         UPDATE sqlite_schema SET sql = replace(sql, 'page (url)', 'page (blob)') \
         WHERE name = 'page_url'; PRAGMA writable_schema = RESET;",
    )
    .unwrap();
    drop(db);
    forge.names(["state", "state.sqlite", "page_url"]);
    let repaired = forge.world.pagelog(&["audit", "--repair"]).exits(0);
    assert!(repaired.stderr.contains("made the state anew"), "{}", repaired.stderr);
    forge.world.assert_whole();
}

#[test]
fn a_spool_of_no_run_is_left_over() {
    let forge = Forge::new();
    let spool = forge.world.archive().join("pagelog/spool.sqlite");
    fs::write(&spool, "").unwrap();
    forge.names(["left-over", "spool.sqlite", "nothing reads them"]);
    let repaired = forge.world.pagelog(&["audit", "--repair"]).exits(0);
    assert!(repaired.stderr.contains(&format!("removed {}", spool.display())));
    assert!(!spool.exists());
    fs::write(&spool, "this is no database, however long it may be".repeat(100)).unwrap();
    forge.names(["state", "spool.sqlite", "damaged: "]);
    forge.world.pagelog(&["audit", "--repair"]).ok();
    assert!(!spool.exists());
}

/// A file that somebody else has locked is healthy: nothing is set aside.
#[test]
fn a_locked_file_is_not_damaged() {
    let forge = Forge::new();
    let world = &forge.world;
    let file = world.archive().join("pagelog/politeness.sqlite");
    let other = rusqlite::Connection::open(&file).expect("the file");
    other.pragma_update(None, "locking_mode", "EXCLUSIVE").expect("a mode");
    other.execute_batch("BEGIN EXCLUSIVE").expect("it is locked");
    let repaired = world.pagelog(&["audit", "--repair"]).exits(1);
    assert!(repaired.stderr.contains("another command is using it"), "{}", repaired.stderr);
    drop(other);
    let kept = fs::read_dir(world.archive().join("pagelog")).expect("a folder").flatten();
    let aside = kept.filter(|e| e.file_name().to_string_lossy().contains("damaged"));
    assert_eq!(aside.count(), 0);
    world.pagelog(&["audit"]).ok();
}
