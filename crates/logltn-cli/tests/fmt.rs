//! `logltn fmt` and `logltn schema` as commands; what the standard form is, is tested in `logltn`.

use crate::common::Folder;

#[test]
fn files_are_rewritten_and_checked() {
    let folder = Folder::new(&[
        (
            "a.ltn",
            b"sort  S # one\npredicate P(S) axiom a:forall x:S.P(x)",
        ),
        ("b.ltn", b"sort S\n"),
        ("bom.ltn", b"\xef\xbb\xbfsort S\r\n"),
        ("m.toml", b"theory = \"a.ltn\"\n"),
        ("wrong.ltn", b"sort S sort\n"),
    ]);
    let read = |name: &str| folder.read(name);

    let run = folder.run(&["fmt", "--check", "a.ltn", "b.ltn", "bom.ltn"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, "a.ltn\nbom.ltn\n"));
    run.complains("2 files not in standard form");
    assert!(read("a.ltn").starts_with("sort  S"));

    let run = folder.run(&["fmt", "a.ltn", "b.ltn", "bom.ltn"]);
    assert_eq!(
        (run.status, run.stdout.as_str(), run.stderr.as_str()),
        (0, "", "")
    );
    let formatted = "sort S  # one\npredicate P(S)\naxiom a: forall x: S. P(x)\n";
    assert_eq!(read("a.ltn"), formatted);
    assert_eq!(read("bom.ltn"), "sort S\r\n");
    folder.ok(&["fmt", "--check", "a.ltn", "b.ltn", "bom.ltn"]);

    // The right files are formatted though others are wrong.
    folder.write("a.ltn", b"sort   S");
    let run = folder.refuses(&["fmt", "wrong.ltn", "m.toml", "none.ltn", "a.ltn"]);
    assert!(run.stderr.contains("wrong.ltn:1:") && run.stderr.contains("`m.toml` is a manifest"));
    run.complains("none.ltn");
    assert_eq!(
        (read("a.ltn").as_str(), read("wrong.ltn").as_str()),
        ("sort S\n", "sort S sort\n")
    );
    folder.refuses(&["fmt"]);
}

#[test]
fn theories_of_the_repository_are_in_standard_form() {
    let theories = crate::common::root().join("theories");
    let files = std::fs::read_dir(theories)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|e| e == "ltn")) {
        Folder::new(&[])
            .run(&["fmt", "--check", path.to_str().unwrap()])
            .ends(0);
    }
}

#[test]
fn the_schema_is_json() {
    let run = Folder::new(&[]).run(&["schema"]).ends(0);
    let schema = run.json();
    assert_eq!(schema["properties"]["theory"]["type"], "string");
    assert_eq!(schema["required"], serde_json::json!(["theory"]));
}
