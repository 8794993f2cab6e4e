//! The site in `docs/`: every page is in the summary, every link leads somewhere, and pages stay short.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::common::{Folder, root};

/// The most words of a page outside the reference, and of all pages.
const PAGE: usize = 1_500;
const ALL: usize = 40_000;

/// The pages of `docs/` by name.
fn pages() -> BTreeMap<String, String> {
    let files = fs::read_dir(root().join("docs")).expect("docs");
    let paths = files.map(|file| file.expect("a file").path());
    (paths.filter(|path| path.extension().is_some_and(|e| e == "md")))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), fs::read_to_string(&path).expect("text"))
        })
        .collect()
}

/// The lines outside fenced blocks.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    })
}

/// What is in `](…)`, code aside.
fn links(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(page) {
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in plain.split("](").skip(1) {
            found.extend(rest.split_once(')').map(|(link, _)| link.to_string()));
        }
    }
    found
}

/// Anchors of the headings, as mdBook and GitHub make them: letters and digits in lower case, blanks as `-`, a number for repetitions.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for heading in prose(page).filter(|line| line.starts_with('#')) {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let anchor: String = (text.chars())
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let mut name = anchor.clone();
        for n in 1.. {
            if found.insert(name.clone()) {
                break;
            }
            name = format!("{anchor}-{n}");
        }
    }
    found
}

/// What is wrong with the links of a page in `folder`, of which `text` is the content.
fn broken(name: &str, text: &str, folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for link in links(text) {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let path = if file.is_empty() {
            folder.join(name)
        } else {
            folder.join(file)
        };
        if !path.exists() {
            wrong.push(format!("{name}: no file `{link}`"));
        } else if !anchor.is_empty() {
            let target = fs::read_to_string(&path).expect("text");
            if !anchors(&target).contains(anchor) {
                wrong.push(format!("{name}: no heading `{link}`"));
            }
        }
    }
    wrong
}

#[test]
fn every_page_is_in_the_summary_once() {
    let pages = pages();
    let listed = links(&pages["SUMMARY.md"]);
    let unique: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(unique.len(), listed.len(), "a page is listed twice");
    let there: BTreeSet<_> = (pages.into_keys())
        .filter(|name| name != "SUMMARY.md")
        .collect();
    assert_eq!(unique, there, "docs/SUMMARY.md and the pages of docs/");
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for (name, text) in pages() {
        // A page of the site can link to the site only: name files of the repository in code instead.
        let outside = links(&text)
            .into_iter()
            .filter(|link| link.starts_with(".."));
        wrong.extend(outside.map(|link| format!("{name}: `{link}` is not on the site")));
        wrong.extend(broken(&name, &text, &root().join("docs")));
    }
    for name in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = fs::read_to_string(root().join(name)).expect("text");
        wrong.extend(broken(name, &text, root()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pages_are_short() {
    let pages = pages();
    let reference = part("Reference");
    // Bars of tables and dashes are not words.
    let is_word = |word: &&str| word.contains(char::is_alphanumeric);
    let words = |text: &str| text.split_whitespace().filter(is_word).count();
    let mut wrong = Vec::new();
    for (name, text) in &pages {
        let count = words(text);
        if count > PAGE && !reference.contains(name) {
            wrong.push(format!("docs/{name} has {count} words, more than {PAGE}"));
        }
    }
    let all: usize = pages.values().map(|text| words(text)).sum();
    if all > ALL {
        wrong.push(format!("docs/ has {all} words, more than {ALL}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The pages of a part of the summary.
fn part(title: &str) -> Vec<String> {
    let summary = &pages()["SUMMARY.md"];
    let parts = summary.split("\n# ").find(|part| part.starts_with(title));
    links(parts.expect("the part"))
}

/// The first paragraph of a page says what the reader gets, before any heading, list, table, picture or code.
#[test]
fn pages_begin_with_a_sentence() {
    for (name, text) in pages() {
        // A page that a test writes has a comment above its title.
        let after_comment = |rest: &str| Some(rest.split_once("-->\n")?.1.to_string());
        let page = (text.strip_prefix("<!--").and_then(after_comment)).unwrap_or(text);
        let mut lines = page.lines().filter(|line| !line.is_empty());
        let (title, first) = (lines.next().expect("a title"), lines.next());
        let is_prose =
            |line: &str| line.starts_with(|c: char| c.is_alphabetic() || "`*[".contains(c));
        let begins = title.starts_with("# ") && first.is_some_and(is_prose);
        assert!(begins || name == "SUMMARY.md", "{name}: {first:?}");
    }
}

/// Figures come with the day on which they were measured, and the command that makes them.
#[test]
fn evidence_has_its_date_and_its_command() {
    let month = |word: &str| {
        [
            "January", "February", "March", "April", "May", "June", "July", "August",
        ]
        .into_iter()
        .chain(["September", "October", "November", "December"])
        .any(|month| month == word)
    };
    let pages = pages();
    for name in part("Evidence") {
        let text = &pages[&name];
        let words: Vec<&str> = (text.split(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .collect();
        let number = |word: &str, digits| word.len() <= digits && word.parse::<u32>().is_ok();
        let dated = (words.windows(3)).any(|w| number(w[0], 2) && month(w[1]) && number(w[2], 4));
        assert!(dated, "docs/{name} says nowhere when it was measured");
        let starts = ["```sh\n", "`logltn ", "`bench/", "`python bench/"];
        assert!(
            starts.iter().any(|s| text.contains(s)),
            "docs/{name} names no command"
        );
    }
}

/// The site has a search, and a light and a dark theme.
#[test]
fn the_site_has_search_and_two_themes() {
    let book = fs::read_to_string(root().join("book.toml")).expect("book.toml");
    for line in [
        "[output.html.search]",
        "default-theme = \"light\"",
        "preferred-dark-theme = \"navy\"",
        "ltn.js",
    ] {
        assert!(book.contains(line), "{line}");
    }
}

/// `docs/commands.md` is what `logltn help commands` prints; `LOGLTN_WRITE=1` writes it anew.
#[test]
fn the_page_of_commands_is_that_of_the_help() {
    let path = root().join("docs/commands.md");
    let printed = crate::common::run_in(root(), &["help", "commands"]).stdout;
    if std::env::var_os("LOGLTN_WRITE").is_some() {
        fs::write(&path, &printed).expect("docs/commands.md can be written");
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == printed,
        "docs/commands.md is out of date: LOGLTN_WRITE=1 cargo test -p logltn-cli --test all book:: writes it"
    );
}

/// Completions for every shell, and the manual, have every command of that page.
#[test]
fn completions_and_manual_have_every_command() {
    let folder = Folder::new(&[]);
    let printed = crate::common::run_in(root(), &["help", "commands"]).stdout;
    let commands: Vec<&str> = (printed.lines())
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(" logltn "))
        .collect();
    assert!(commands.len() > 25, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.ok(&["completions", shell]).stdout;
        for command in commands.iter().flat_map(|command| command.split(' ')) {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("p-forall"), "{shell}");
    }
    folder.ok(&["man", "pages"]);
    for command in commands {
        let page = format!("pages/logltn-{}.1", command.replace(' ', "-"));
        let text = fs::read_to_string(folder.path().join(&page)).expect("a page");
        assert!(
            text.contains(".SH NAME") && text.contains(".SH OPTIONS"),
            "{page}"
        );
    }
}

/// The command lines of the pages: those in `sh` and `console` blocks that begin with `logltn`, with what continues them.
fn command_lines(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut inside = false;
    let mut continued = false;
    for line in page.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            inside = !inside && matches!(kind, "sh" | "console");
            continue;
        }
        let line = line.strip_prefix("$ ").unwrap_or(line);
        if inside && (continued || line.starts_with("logltn ")) {
            let text = line.split(" #").next().unwrap_or(line);
            let text = text.split(" > ").next().unwrap_or(text).trim_end();
            let (text, more) = match text.strip_suffix('\\') {
                Some(text) => (text, true),
                None => (text, false),
            };
            match continued {
                true => found.last_mut().expect("a line to continue").push_str(text),
                false => found.push(text.to_string()),
            }
            continued = more;
        }
    }
    found
}

/// Every command line on the site names a command and flags that exist.
#[test]
fn commands_on_the_pages_exist() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    let mut texts = pages();
    texts.remove("diagnostics.md");
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    texts.insert("README.md".to_string(), readme);
    for (name, text) in texts {
        for line in command_lines(&text) {
            seen += 1;
            let words: Vec<&str> = line.split_whitespace().skip(1).collect();
            let depth = if words[0] == "reproduce" { 2 } else { 1 };
            if words[0] == "help" {
                continue;
            }
            let mut asked: Vec<&str> = words[..depth].to_vec();
            asked.push("--help");
            let help = crate::common::run_in(root(), &asked);
            let flags = words.iter().filter(|word| word.starts_with("--"));
            let unknown = flags.filter(|flag| {
                let flag = flag.split('=').next().unwrap_or(flag);
                !(help
                    .stdout
                    .split(|c: char| !(c.is_alphanumeric() || c == '-')))
                .any(|word| word == flag)
            });
            let unknown: Vec<_> = unknown.collect();
            if help.status != 0 || !unknown.is_empty() {
                wrong.push(format!("{name}: `{line}`: {unknown:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 30, "{seen}");
}

/// Command lines that a test would wait for too long, or that need data of others: `reproduce` and `example` have tests
/// of their own, and the flags of all lines are checked above.
const LONG: [&str; 3] = [
    "logltn reproduce ",
    "logltn example mnist-add ",
    "logltn sweep mnist-add/",
];

/// Flags that make a command quick.
const QUICK: [(&str, &[&str]); 1] = [("advise", &["--seconds", "1", "--seeds", "1"])];

/// Follows a page word for word: files that it shows (`name`: and a block, or `# name` as the first line of a block) are
/// written, commands run, in order.
fn follow(page: &str, folder: &Folder) -> Vec<crate::common::Run> {
    let text = match page {
        "README.md" => fs::read_to_string(root().join(page)).expect("text"),
        _ => pages()[page].clone(),
    };
    let mut runs = Vec::new();
    for part in text.split("\n```").collect::<Vec<_>>().chunks(2) {
        let [before, block] = part else { continue };
        let (kind, content) = block.split_once('\n').unwrap_or((block, ""));
        let last = before.trim_end().lines().last().unwrap_or_default();
        let first = content.lines().next().unwrap_or_default();
        let named = (last.strip_prefix('`')).and_then(|line| line.strip_suffix("`:"));
        let named = named.or(first.strip_prefix("# "));
        if let Some(file) = named.filter(|name| name.ends_with(".ltn") || name.ends_with(".toml")) {
            folder.write(file, format!("{content}\n").as_bytes());
        }
        for line in command_lines(&format!("```{kind}\n{content}\n```\n")) {
            if kind != "sh" || LONG.iter().any(|long| line.starts_with(long)) {
                continue;
            }
            let words = shell_words(&line);
            let mut words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            let quick = QUICK.iter().find(|(command, _)| *command == words[0]);
            words.extend(quick.into_iter().flat_map(|(_, flags)| *flags));
            let run = folder.run(&words);
            assert_eq!(run.status, 0, "{line}\n{}{}", run.stdout, run.stderr);
            runs.push(run);
        }
    }
    runs
}

/// The project of the README and of `logltn demo`, with few points and steps.
fn clustering(folder: &Folder) {
    let read = |name: &str| fs::read_to_string(root().join("theories").join(name)).expect("text");
    let first = |name: &str, rows: usize| {
        let text = read(name);
        text.lines().take(1 + rows).collect::<Vec<_>>().join("\n")
    };
    for name in ["clustering/labels.csv", "clustering/points.csv"] {
        folder.write(name, first(name, 80).as_bytes());
    }
    folder.write("new.csv", first("clustering/points.csv", 3).as_bytes());
    folder.write("clustering.ltn", read("clustering.ltn").as_bytes());
    let manifest = read("clustering.toml").replace("steps = 1000", "steps = 2");
    folder.write("clustering.toml", manifest.as_bytes());
}

/// A small project that learns one predicate from features.
fn small(folder: &Folder, name: &str, theory: &str, more: &str) {
    let points: String = (0..12).map(|i| format!("0.{i},{}\n", i % 3)).collect();
    folder.write("points.csv", format!("a,b\n{points}").as_bytes());
    folder.write(&format!("{name}.ltn"), theory.as_bytes());
    let manifest = format!("theory = \"{name}.ltn\"\n{more}\n[train]\nsteps = 2\n");
    folder.write(&format!("{name}.toml"), manifest.as_bytes());
}

/// What has to be there before the commands of a page can run.
fn stage(page: &str, folder: &Folder) {
    match page {
        "README.md" => {
            clustering(folder);
            folder.ok(&["train", "clustering.toml", "--out", "run"]);
        }
        "training.md" => clustering(folder),
        "compare.md" | "predict.md" => {
            clustering(folder);
            folder.ok(&["train", "clustering.toml", "--out", "runs/a"]);
            folder.ok(&["train", "clustering.toml", "--out", "runs/b", "--seed", "1"]);
            let theory =
                "sort Box\npredicate part_of(Box, Box)\naxiom all: forall x: Box. part_of(x, x)\n";
            let manifest = "[sorts.Box]\nfeatures = \"points.csv\"\n[predicates.part_of]\nargs = [\"x\", \"y\"]\n\
                            network = { mlp = [4] }\noutput = \"sigmoid\"\n";
            small(folder, "pascal_part", theory, manifest);
            folder.write("pairs.csv", b"x,y\n0,1\n2,3\n");
            folder.ok(&["train", "pascal_part.toml", "--out", "runs/p"]);
        }
        "choosing.md" => {
            let theory = "sort Row\nsort Class = {no, yes}\ntable labelled(x: Row, k: Class)\npredicate class(Row, Class)\n\
                          axiom labels: forall (x, k) in labelled. class(x, k)\n";
            let manifest = "[sorts.Row]\nfeatures = \"points.csv\"\n[tables]\nlabelled = { rows = \"labelled.csv\" }\n\
                            [predicates.class]\nnetwork = { mlp = [4] }\noutput = \"softmax\"\n";
            small(folder, "manifest", theory, manifest);
            let rows: String = (0..12)
                .map(|i| format!("{i},{}\n", ["no", "yes"][i % 2]))
                .collect();
            folder.write("labelled.csv", format!("x,k\n{rows}").as_bytes());
        }
        "entails.md" => {
            let page = &pages()[page];
            let theory = page
                .split("```ltn\n")
                .nth(1)
                .and_then(|rest| rest.split("```").next());
            folder.write("modus_ponens.ltn", theory.expect("a theory").as_bytes());
            folder.write(
                "modus_ponens.toml",
                b"theory = \"modus_ponens.ltn\"\n[predicates]\nA = { learnable = true }\nB = { learnable = true }\n",
            );
        }
        "knowledge-graphs.md" => {
            let (mut entities, mut facts) = (String::new(), String::new());
            for i in 0..12 {
                entities += &format!("n{i}\n");
                facts += &format!("n{i},one,n{}\nn{i},two,n{}\n", (i + 1) % 12, (i + 2) % 12);
            }
            folder.write("entities.txt", entities.as_bytes());
            folder.write("relations.txt", b"one\ntwo\n");
            folder.write("train.csv", format!("h,r,t\n{facts}").as_bytes());
            for name in ["valid.csv", "test.csv"] {
                folder.write(name, b"h,r,t\nn0,one,n1\nn3,two,n5\n");
            }
        }
        "tables.md" => {
            folder.ok(&["new", "brought"]);
            let rows = fs::read(folder.path().join("brought/brought.csv")).expect("an example");
            folder.write("flowers.csv", &rows);
        }
        "worlds.md" => {
            let theory = "sort Thing\nsort Label = {cat, animal}\ntable isa(c: Label, p: Label)\npredicate is(Thing, Label)\n\
                          axiom hierarchy: forall x: Thing. forall (c, p) in isa. is(x, c) -> is(x, p)\n\
                          axiom some: forall x: Thing. is(x, animal)\n";
            let manifest = "[sorts.Thing]\nfeatures = \"points.csv\"\n[tables]\nisa = { rows = \"isa.csv\" }\n\
                            [predicates.is]\nnetwork = { mlp = [4] }\noutput = \"sigmoid\"\n[axioms.hierarchy]\nhard = true\n";
            small(folder, "m", theory, manifest);
            folder.write("isa.csv", b"c,p\ncat,animal\n");
            folder.ok(&["train", "m.toml", "--out", "runs/a"]);
        }
        _ => {}
    }
}

/// Every command of the program on the site runs, but for [`LONG`] ones and those of the two pages below.
#[test]
fn commands_on_the_pages_run() {
    let mut ran = 0;
    let names = pages().into_keys().chain(["README.md".to_string()]);
    for page in names.filter(|page| !["asking.md", "ten-minutes.md"].contains(&page.as_str())) {
        let folder = Folder::new(&[]);
        stage(&page, &folder);
        ran += follow(&page, &folder).len();
    }
    assert!(ran >= 30, "{ran}");
}

#[test]
fn the_first_steps_can_be_followed() {
    assert!(follow("ten-minutes.md", &Folder::new(&[])).len() >= 6);
}

#[test]
fn the_story_ends_well() {
    let runs = follow("asking.md", &Folder::new(&[]));
    let compared = &runs.last().expect("a comparison").stdout;
    let f1 = (compared.lines().find(|line| line.contains("f1(ancestor)"))).expect("the metric");
    let values: Vec<f64> = f1
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(values[0] < 0.6 && values[1] > 0.99, "{f1}");
}

/// Words, of which those in double quotes may have blanks.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('"').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(String::from)),
            _ => words.push(part.to_string()),
        }
    }
    words
}

#[test]
fn the_check_of_links_can_fail() {
    let folder = root().join("docs");
    let text = "# A `b`, c\n[x](nothing.md) [y](#a-b-c) [z](#none) `[w](code.md)`\n```\n[v](fenced.md)\n```\n";
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["a-b-c"]);
    assert_eq!(links(text), ["nothing.md", "#a-b-c", "#none"]);
    let wrong = broken("no-such-page.md", "[x](nothing.md)", &folder);
    assert_eq!(wrong, ["no-such-page.md: no file `nothing.md`"]);
}
