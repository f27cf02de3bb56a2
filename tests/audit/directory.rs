//! What stands in the archive's directory, and how it looks from outside.

use std::fs;

use super::forge::Forge;

#[test]
fn left_over_files_are_told_and_those_of_ours_removed() {
    let forge = Forge::new();
    let archive = forge.world.archive();
    let files = [
        ("objects/pack/tmp_pack_pagelog_1_0", "left by a run that was killed", true),
        ("objects/pack/tmp_pack_abc123", "a temporary file of Git", false),
        ("objects/ab/tmp_obj_abc123", "a temporary file of Git", false),
        ("pagelog-room-4711", "left by a run that was killed", true),
        ("packed-refs.lock", "a lock of a Git process", false),
        ("config.lock", "a lock of a Git process", false),
        ("gc.pid", "a lock of a Git process", false),
        ("objects/pack/multi-pack-index.lock", "a lock of a Git process", false),
        ("objects/info/commit-graph.lock", "a lock of a Git process", false),
        ("objects/info/commit-graphs/commit-graph-chain.lock", "a lock of a Git process", false),
    ];
    for (name, what, ours) in files {
        let path = archive.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        forge.names(["left-over", name, what]);
        let repaired = forge.world.pagelog(&["audit", "--repair"]);
        assert_eq!(repaired.code, Some(i32::from(!ours)), "{name}: {}", repaired.stderr);
        assert_eq!(path.exists(), !ours, "{name}");
        if ours {
            assert!(repaired.stderr.contains(&format!("removed {}", path.display())));
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
    forge.world.assert_whole();
}

#[test]
fn a_pack_that_never_got_its_index_is_removed() {
    let forge = Forge::new();
    let folder = forge.world.archive().join("objects/pack");
    let stem = folder.join("pack-0123456789012345678901234567890123456789");
    fs::write(stem.with_extension("pack"), "PACK").unwrap();
    fs::write(stem.with_extension("keep"), "pagelog: kept until the refs have moved\n").unwrap();
    forge.names(["left-over", "0123456789.pack", "left by a run that was killed"]);
    forge.world.pagelog(&["audit", "--repair"]).ok();
    assert!(!stem.with_extension("pack").exists() && !stem.with_extension("keep").exists());
}

#[test]
fn objects_of_elsewhere_and_shortened_history_are_told() {
    let forge = Forge::new();
    let info = forge.world.archive().join("objects/info");
    fs::create_dir_all(&info).unwrap();
    let elsewhere = forge.world.path().join("open.git/objects");
    fs::write(info.join("alternates"), format!("{}\n", elsewhere.display())).unwrap();
    forge.names(["object", "alternates", "`git repack -a -d`"]);
    fs::remove_file(info.join("alternates")).unwrap();
    let shallow = forge.world.archive().join("shallow");
    fs::write(&shallow, forge.id("refs/heads/main~1") + "\n").unwrap();
    forge.names(["object", "shallow", "it lets history look shorter"]);
    fs::remove_file(shallow).unwrap();
    forge.world.assert_whole();
}

#[test]
fn guards_are_put_back_and_wanted_settings_are_named() {
    let forge = Forge::new();
    let world = &forge.world;
    fs::remove_file(world.archive().join("hooks/pre-push")).unwrap();
    world.git(&["config", "--unset-all", "transfer.hideRefs"]).ok();
    world.git(&["config", "uploadpack.allowTipSHA1InWant", "true"]).ok();
    for what in ["pre-push", "transfer.hideRefs does not hide", "uploadpack.allowtipsha1inwant"] {
        let faults = forge.faults();
        assert!(faults.iter().any(|fault| fault.concat().contains(what)), "{what}: {faults:?}");
    }
    let repaired = world.pagelog(&["audit", "--repair"]).exits(0);
    let put_right = repaired.stderr.lines().filter(|line| line.starts_with("put right ")).count();
    assert_eq!(put_right, 3, "{}", repaired.stderr);
    for (name, value) in [
        ("remote.out.mirror", "true"),
        ("remote.out.push", "+refs/*:refs/*"),
        ("remote.out.push", "refs/private/main:refs/heads/x"),
        ("include.path", "/etc/gitconfig"),
        ("uploadpack.hideRefs", "!refs/private"),
    ] {
        world.git(&["config", name, value]).ok();
        forge.names(["guard", "config", name.to_lowercase().as_str()]);
        world.pagelog(&["audit", "--repair"]).exits(1);
        world.git(&["config", "--unset-all", name]).ok();
    }
    world.assert_whole();
}

#[test]
fn an_archive_that_looks_served_is_told_by_audit_and_status() {
    let forge = Forge::new();
    let world = &forge.world;
    let told = |what: &str| {
        let faults = forge.faults();
        let found = |fault: &[String; 3]| fault[0] == "served" && fault.concat().contains(what);
        assert!(faults.iter().any(found), "{what}: {faults:?}");
        let status = world.pagelog(&["status"]).ok();
        let warned =
            status.lines().any(|line| line.starts_with("warning: ") && line.contains(what));
        assert!(warned, "{what}: {status}");
    };
    for name in ["git-daemon-export-ok", "cgitrc"] {
        fs::write(world.archive().join(name), "").unwrap();
        told(name);
        fs::remove_file(world.archive().join(name)).unwrap();
    }
    for name in ["http.receivepack", "http.getanyfile", "daemon.uploadarch", "gitweb.owner"] {
        world.git(&["config", name, "true"]).ok();
        told(&format!("{name} is true"));
        world.git(&["config", name, "false"]).ok();
        world.pagelog(&["audit"]).ok();
        world.git(&["config", "--unset-all", name]).ok();
    }
    world.assert_whole();
    // Where servers look, whatever the folder is called in full.
    for folder in ["public_html", "htdocs", "www", "cgit", "GitWeb"] {
        let inside = format!("{folder}/deep/archive");
        fs::create_dir_all(world.path().join(&inside).parent().unwrap()).unwrap();
        fs::rename(world.archive(), world.path().join(&inside)).unwrap();
        let audit = world.pagelog(&["--archive", &inside, "audit"]).exits(1);
        assert!(audit.stdout.contains("servers often show"), "{}", audit.stdout);
        let status = world.pagelog(&["--archive", &inside, "status"]).ok();
        assert!(status.contains("servers often show"), "{status}");
        fs::rename(world.path().join(&inside), world.archive()).unwrap();
    }
    // Also through a link.
    let root = world.path().join("htdocs");
    fs::rename(world.archive(), root.join("archive")).unwrap();
    std::os::unix::fs::symlink(root.join("archive"), world.archive()).unwrap();
    told("servers often show");
}

#[test]
fn the_folder_of_a_killed_upkeep_is_removed_by_repair_and_by_a_run() {
    let forge = Forge::new();
    let folder = forge.world.archive().join("pagelog/upkeep");
    let make = || {
        fs::create_dir_all(folder.join("objects/pack")).unwrap();
        fs::write(folder.join("objects/pack/tmp_pack_x"), "PACK").unwrap();
    };
    make();
    forge.names(["left-over", "pagelog/upkeep", "left by a run that was killed"]);
    let repaired = forge.world.pagelog(&["audit", "--repair"]).exits(0);
    assert_eq!(repaired.stderr, format!("removed {}\n", folder.display()));
    assert!(!folder.exists());
    make();
    forge.world.run_at("2026-12-05T02:00:00Z");
    assert!(!folder.exists());
    forge.world.assert_whole();
}

/// Refs that were accepted with unequal runs are told of for as long as they are so.
#[test]
fn accepted_refs_of_unequal_runs_are_told_of() {
    let forge = Forge::new();
    let world = &forge.world;
    world.git(&["update-ref", "-d", "refs/private/main"]).ok();
    world.pagelog(&["audit", "--repair"]).ok();
    let again = world.pagelog(&["audit"]).exits(0).stderr;
    assert!(again.contains("refs/private/main has 0: they were accepted so"), "{again}");
}
