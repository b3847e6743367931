//! Making room in the cache.

use std::fs;
use std::path::Path;
use std::process::Command;

use lockstep::server::Pins;
use lockstep::server::embedded::{self, Environment, Needless, Pruned};
use tempfile::TempDir;

use crate::bench::{ask, base, connect, environment_in, is_empty, open_folder, pin, start};

/// A cache that holds the pinned package, from the user's.
async fn filled_cache(usual: &Environment) -> TempDir {
    embedded::prepare(&pin(), usual, &|_| {})
        .await
        .unwrap_or_else(|error| panic!("failed to fetch: {error}"));
    let cache = open_folder(&std::env::temp_dir());
    let servers = cache.path().join("servers");
    fs::create_dir(&servers).unwrap();
    let name = pin().release.to_string();
    for entry in fs::read_dir(embedded::cache_folder(usual).join("servers")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_string_lossy().starts_with(&name) {
            let copy = Command::new("cp")
                .arg("-R")
                .args([entry.path(), servers.join(entry.file_name())])
                .status();
            assert!(copy.unwrap().success());
        }
    }
    cache
}

async fn prune(environment: &Environment, everything: bool) -> Pruned {
    embedded::prune(Pins::built_in(), environment, everything)
        .await
        .unwrap_or_else(|error| panic!("failed to prune: {error}"))
}

fn put(path: &Path) {
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("file"), [b'x'; 9000]).unwrap();
}

#[tokio::test]
async fn what_is_old_goes_and_what_is_pinned_stays() {
    let base = base();
    let usual = environment_in(&base);
    let cache = filled_cache(&usual).await;
    let environment = Environment {
        cache: Some(cache.path().to_owned()),
        ..usual
    };
    start(&environment).await.stop().await;
    let there = |kind: &str| fs::read_dir(cache.path().join(kind)).unwrap().count();
    let (servers, templates) = (there("servers"), there("templates"));

    let old = [
        ("servers/17.9-old", Needless::NotPinned),
        ("templates/17.9-0123456789abcdef", Needless::Outdated),
        (
            ".unfinished-servers-17.9~0123456789abcdef",
            Needless::Unfinished,
        ),
        (".unfinished-0123456789abcdef", Needless::Unfinished),
    ];
    for (path, _) in old {
        put(&cache.path().join(path));
    }
    let pruned = prune(&environment, false).await;
    assert_eq!(pruned.in_use, Vec::<std::path::PathBuf>::new());
    assert_eq!(pruned.removed.len(), old.len(), "{pruned:?}");
    for (path, why) in old {
        let path = cache.path().join(path);
        assert!(!path.exists());
        let told = pruned.removed.iter().find(|removed| removed.path == path);
        let told = told.unwrap_or_else(|| panic!("{}: {pruned:?}", path.display()));
        assert_eq!(told.why, why);
        assert!(told.bytes >= 9000);
    }
    assert_eq!((there("servers"), there("templates")), (servers, templates));
    assert_eq!(prune(&environment, false).await, Pruned::default());
}

#[tokio::test]
async fn what_a_run_uses_stays_until_the_run_ends() {
    let base = base();
    let usual = environment_in(&base);
    let cache = filled_cache(&usual).await;
    let environment = Environment {
        cache: Some(cache.path().to_owned()),
        ..usual
    };
    let server = start(&environment).await;
    let pruned = prune(&environment, true).await;
    // Not where this release is installed: then no package is used.
    let uses_package = !is_empty(&cache.path().join("servers"));
    assert_eq!(pruned.in_use.len(), usize::from(uses_package), "{pruned:?}");
    // A new backend reads files of the installation.
    let client = connect(server.endpoint(), "postgres").await;
    let zones = "SELECT count(*) > 100 FROM pg_timezone_names";
    assert_eq!(ask(&client, zones).await, "true");
    server.stop().await;

    prune(&environment, true).await;
    assert!(!cache.path().exists(), "something is left");
}

#[tokio::test]
async fn what_is_being_made_stays() {
    let cache = open_folder(&std::env::temp_dir());
    let environment = Environment {
        cache: Some(cache.path().to_owned()),
        ..environment_in(&base())
    };
    let making = cache
        .path()
        .join(".unfinished-servers-17.9~0123456789abcdef");
    put(&making);
    fs::create_dir(cache.path().join("locks")).unwrap();
    let lock = fs::File::create(cache.path().join("locks/servers-17.9")).unwrap();
    lock.lock().unwrap();
    let pruned = prune(&environment, true).await;
    assert_eq!(pruned.in_use, std::slice::from_ref(&making));
    assert!(making.exists());
    drop(lock);
    prune(&environment, true).await;
    assert!(!making.exists());
}
