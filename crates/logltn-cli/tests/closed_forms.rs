//! Closed forms as a user meets them: regression, a scorer of a knowledge graph, mistakes in place.

use crate::common::Folder;
use serde_json::Value;

fn metric(document: &Value, name: &str) -> f64 {
    let metrics = document["metrics"].as_array().expect("metrics");
    let found = metrics.iter().find(|m| m["name"] == name);
    found.expect("the metric")["value"]
        .as_f64()
        .expect("a value")
}

/// Houses whose price is 30 + 10·rooms − 5·far, far from what a network says at first.
fn prices() -> Folder {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort House\ntable prices(x: House, y: Real)\nfunction f(House): Real\npredicate eq(Real, Real)\n\
              axiom prices: forall (x, y) in prices. eq(f(x), y)\n",
        ),
        (
            "m.toml",
            b"theory = 't.ltn'\n[sorts]\nHouse = { features = 'houses.csv' }\n[tables]\n\
              prices = { rows = 'prices.csv' }\n\
              [functions.f]\nargs = ['x']\nnetwork = { mlp = [16], activation = 'elu' }\noutput = 'linear'\n\
              [predicates.eq]\nargs = ['u', 'v']\nclosed_form = { log_truth = '-rate * dist(u, v)' }\n\
              learn = { rate = 0.05 }\n\
              [train]\nsteps = 1500\nlearning_rate = 0.03\nfreeze = ['eq']\n\
              [evaluate]\nmetrics = [{ metric = 'rmse', function = 'f', rows = 'test.csv' }]\n",
        ),
    ]);
    let (mut houses, mut rows, mut test) = (
        "rooms,far\n".to_string(),
        "x,y\n".to_string(),
        "x,value\n".to_string(),
    );
    for i in 0..40 {
        let (rooms, far) = (f64::from(i % 5), f64::from(i * 7 % 11) / 5.0);
        houses += &format!("{rooms},{far}\n");
        let price = 30.0 + 10.0 * rooms - 5.0 * far;
        match i % 4 {
            0 => test += &format!("{i},{price}\n"),
            _ => rows += &format!("{i},{price}\n"),
        }
    }
    for (name, text) in [
        ("houses.csv", houses),
        ("prices.csv", rows),
        ("test.csv", test),
    ] {
        folder.write(name, text.as_bytes());
    }
    folder
}

#[test]
fn regression() {
    let folder = prices();
    let check = folder.run(&["check", "m.toml"]);
    check.quiet();
    let line = "log truth -rate * dist(u, v), learning rate (0.05 at first)";
    check.says(line);
    let said = folder.json(&["check", "m.toml"]);
    let eq = &said["predicates"][0];
    assert_eq!(eq["grounding"], "closed_form", "{eq}");
    assert_eq!(
        (&eq["closed_form"], &eq["output"]),
        (&"-rate * dist(u, v)".into(), &"log_truth".into())
    );
    assert_eq!(eq["learn"]["rate"][0], 0.05);

    folder.ok(&["train", "m.toml", "--out", "a"]);
    let found = folder.json(&["eval", "m.toml", "--run", "a"]);
    assert!(metric(&found, "rmse(f)") < 3.0, "{found}");
    // Frozen, so the truth is what the distances are.
    let truth = found["axioms"][0]["truth"].as_f64().expect("a truth");
    assert!((-0.15..=0.0).contains(&truth), "{found}");
    let weights = folder.bytes("a/weights.safetensors");
    assert!(String::from_utf8_lossy(&weights).contains("\"eq.rate\""));
    // The same bits on one thread, and after an interruption.
    for arguments in [
        &["train", "m.toml", "--out", "b", "--threads", "1"][..],
        &["train", "m.toml", "--out", "b", "--resume"],
    ] {
        folder.ok(arguments);
    }
    let again = folder.bytes("b/weights.safetensors");
    assert_eq!(weights, again);
    // Nothing is known of it before.
    let run = folder.refuses(&["eval", "m.toml"]);
    run.complains("numbers that are learnt");
    // A run is evaluated with the closed form that it was trained with.
    folder.change("m.toml", "-rate * dist(u, v)", "-2 * rate * dist(u, v)");
    let run = folder.refuses(&["eval", "m.toml", "--run", "a"]);
    run.complains("predicates.eq.closed_form");
}

#[test]
fn a_rate_that_is_learnt_away_is_told_before_and_when_it_happens() {
    let folder = prices();
    folder.change("m.toml", "freeze = ['eq']\n", "");
    let check = folder.ok(&["check", "m.toml"]);
    check.complains("`eq` occurs only positively");
    let run = folder.stops(&["train", "m.toml", "--out", "a"]);
    for words in [
        "eq(f(#",
        "softplus(rate)",
        "freeze = [\"eq\"]",
        "m.toml:12:30",
        "at step ",
    ] {
        run.complains(words);
    }
}

fn graph() -> Folder {
    Folder::new(&[
        (
            "t.ltn",
            b"sort E\nsort R\ntable facts(h: E, r: R, t: E)\npredicate linked(E, R, E)\n\
              axiom facts: forall (h, r, t) in facts. linked(h, r, t)\n\
              axiom few: forall h, t: E, r: R where not facts(h, r, t). not linked(h, r, t)\n",
        ),
        (
            "m.toml",
            b"theory = 't.ltn'\n[sorts]\n\
              E = { individuals = ['a', 'b', 'c', 'd', 'e', 'f'], learnable = 8 }\n\
              R = { individuals = ['next', 'back'], learnable = 8 }\n\
              [tables]\nfacts = { rows = 'facts.csv' }\n\
              [predicates.linked]\nargs = ['h', 'r', 't']\n\
              closed_form = { logit = 'margin - norm(h + r - t)' }\nlearn = { margin = 2.0 }\n\
              [train]\nsteps = 400\nlearning_rate = 0.05\n\
              [evaluate]\nmetrics = [\n\
              { metric = 'accuracy', predicate = 'linked', rows = 'test.csv' },\n\
              { metric = 'average_precision', predicate = 'linked', rows = 'test.csv' },\n\
              { metric = 'mrr', predicate = 'linked', rows = 'facts.csv', of = 't', filter = ['facts'] },\n\
              { metric = 'hits', k = 1, predicate = 'linked', rows = 'facts.csv', of = 't' } ]\n",
        ),
        (
            "facts.csv",
            b"h,r,t\na,next,b\nb,next,c\nc,next,d\nd,next,e\ne,next,f\nb,back,a\nc,back,b\nd,back,c\ne,back,d\nf,back,e\n",
        ),
        (
            "test.csv",
            b"truth,t,r,h\n1,b,next,a\n1,b,back,c\n0,a,next,b\n0,f,next,a\n0,e,back,a\n1,f,next,e\n",
        ),
    ])
}

#[test]
fn a_scorer_of_a_knowledge_graph() {
    let folder = graph();
    folder.ok(&["train", "m.toml", "--out", "a"]);
    let found = folder.json(&["eval", "m.toml", "--run", "a"]);
    for name in [
        "accuracy(linked)",
        "average_precision(linked)",
        "mrr(linked, t)",
        "hits@1(linked, t)",
    ] {
        assert_eq!(metric(&found, name), 1.0, "{name}: {found}");
    }
    // Another run begins with its margin, and leaves it.
    folder.change(
        "m.toml",
        "steps = 400",
        "steps = 3\nstart = { run = 'a', only = ['linked'] }\nfreeze = ['linked']",
    );
    let run = folder.ok(&["train", "m.toml", "--out", "b"]);
    run.complains("begins with 1 tensor of a");
    // Vectors that were learnt under another form are no use here.
    folder.change("m.toml", "h + r - t", "h * r * t");
    folder.refuses(&["eval", "m.toml", "--run", "a"]);
    // But spaces and names make no difference.
    folder.change(
        "m.toml",
        "margin - norm(h * r * t)",
        "margin-norm( x+y -z )",
    );
    folder.change("m.toml", "['h', 'r', 't']", "['x', 'y', 'z']");
    folder.change("m.toml", "of = 't', filter = ['facts']", "of = 'z'");
    let run = folder.run(&["eval", "m.toml", "--run", "a"]);
    assert!(!run.stderr.contains("closed_form"), "{}", run.stderr);
}

#[test]
fn nothing_learnt_needs_no_run() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort P\nsort D = 0..4\npredicate near(P, P)\npredicate low(D)\n\
              axiom near: forall x, y: P. near(x, y)\naxiom low: exists d: D. low(d)\n",
        ),
        (
            "m.toml",
            b"theory = 't.ltn'\nsemantics = { base = 'logltn', exists = 'max' }\n[sorts]\nP = { features = 'p.csv' }\n\
              [predicates]\nnear = { args = ['x', 'y'], closed_form = { log_truth = '-dist(x, y)' } }\n\
              low = { args = ['d'], closed_form = { truth = '1 - d / 4' } }\n\
              [evaluate]\nmetrics = [{ metric = 'accuracy', predicate = 'near', rows = 'test.csv' }]\n",
        ),
        ("p.csv", b"u,v\n0.1,0.3\n0.7,-0.2\n"),
        ("test.csv", b"x,y,truth\n0,0,1\n0,1,0\n"),
    ]);
    let found = folder.json(&["eval", "m.toml"]);
    let truth = |i: usize| found["axioms"][i]["truth"].as_f64().expect("a truth");
    let dist = (0.6_f64.powi(2) + 0.5_f64.powi(2)).sqrt();
    assert!((truth(0) + dist / 2.0).abs() < 1e-12, "{found}");
    assert!((truth(1) - 1.0000001_f64.ln()).abs() < 1e-12, "{found}");
    assert_eq!(metric(&found, "accuracy(near)"), 1.0);
    // What cannot be is found by all commands, before the first step.
    folder.change("m.toml", "1 - d / 4", "1 - d / 3");
    for command in [
        &["check", "m.toml"][..],
        &["eval", "m.toml"],
        &["train", "m.toml", "--steps", "1", "--out", "a"],
    ] {
        let run = folder.refuses(command);
        for words in [
            "`low(4)` has the truth -0.33",
            "`d` is 4",
            "m.toml:7:",
            "between 0 and 1",
        ] {
            assert!(
                run.stderr.contains(words),
                "{command:?} {words}: {}",
                run.stderr
            );
        }
    }
}

#[test]
fn mistakes_are_shown_in_place() {
    for (from, to, line, column, words) in [
        (
            "'margin - norm(h + r - t)'",
            "'margin - nrom(h)'",
            9,
            35,
            "did you mean `norm`?",
        ),
        ("h + r - t", "h + r - ", 9, 48, "found `)`"),
        (
            "norm(h + r - t)",
            "norm(h + q)",
            9,
            44,
            "`q` is neither an argument nor in `learn`",
        ),
        (
            "norm(h + r - t)",
            "h + r - t",
            9,
            26,
            "one number, but this is a vector of 8",
        ),
        (
            "R = { individuals = ['next', 'back'], learnable = 8 }",
            "R = { individuals = ['next', 'back'] }",
            9,
            44,
            "sort `R` has no features",
        ),
        (
            "'back'], learnable = 8",
            "'back'], learnable = 7",
            9,
            40,
            "a vector of 8 cannot be added to one of 7",
        ),
        ("margin = 2.0", "margin = [1, 2]", 9, 26, "a vector of 2"),
        (
            "margin = 2.0",
            "margin = 'big'",
            10,
            20,
            "a number, or an array",
        ),
        ("margin = 2.0", "margin = []", 10, 20, "empty"),
        ("margin = 2.0", "margin = 1e39", 10, 20, "single precision"),
        (
            "margin = 2.0",
            "margin = 2.0, h = 1",
            10,
            25,
            "`h` is an argument",
        ),
        ("{ logit = ", "{ logits = ", 9, 17, "did you mean `logit`?"),
        (
            "{ logit = 'margin",
            "{ truth = '1', logit = 'margin",
            9,
            30,
            "both `truth` and `logit`",
        ),
        (
            "{ logit = 'margin - norm(h + r - t)' }",
            "'margin'",
            9,
            15,
            "a table such as",
        ),
        (
            "{ logit = 'margin - norm(h + r - t)' }",
            "{}",
            9,
            15,
            "none of `truth`, `log_truth`, `logit` and `softmax`",
        ),
        (
            "learn = {",
            "output = 'sigmoid'\nlearn = {",
            10,
            1,
            "says itself what it is",
        ),
        (
            "learn = {",
            "learnable = true\nlearn = {",
            10,
            1,
            "both `closed_form` and `learnable`",
        ),
        (
            "closed_form = { logit = 'margin - norm(h + r - t)' }",
            "learnable = true",
            10,
            1,
            "is for the numbers of a `closed_form`",
        ),
        (
            "['h', 'r', 't']",
            "['h', 'r']",
            8,
            8,
            "3 arguments in the theory, but 2",
        ),
    ] {
        let folder = graph();
        folder.change("m.toml", from, to);
        for command in [&["check", "m.toml"][..], &["train", "m.toml", "--out", "a"]] {
            let run = folder.refuses(command);
            run.complains(words);
            let place = format!("m.toml:{line}:{column}");
            assert!(run.stderr.contains(&place), "{to}, {place}: {}", run.stderr);
        }
    }
    let folder = graph();
    folder.change("m.toml", "margin = 2.0", "margin = 2.0, other = 1");
    let run = folder.run(&["check", "m.toml"]);
    assert!(
        run.status == 0 && run.stderr.contains("learns `other`"),
        "{}",
        run.stderr
    );
}

#[test]
fn mistakes_in_several_closed_forms_and_elsewhere_are_told_at_once() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort A\nsort B\ntable t(x: A)\npredicate p(A)\npredicate q(A)\npredicate r(A)\npredicate s(B)
predicate u(A)\naxiom a: forall (x) in t. p(x) and q(x) and r(x) and u(x)\naxiom b: forall y: B. s(y)\n",
        ),
        ("a.csv", b"h,w\n1,2\n3,4\n"),
        ("t.csv", b"x\n0\n7\n"),
        (
            "m.toml",
            b"theory = 't.ltn'
[sorts]
A = { features = 'a.csv' }
B = { features = 'nowhere.csv' }
[tables]
t = { rows = 't.csv' }
[predicates]
p = { args = ['x'], closed_form = { logit = 'x + y' } }
q = { args = ['x'], closed_form = { logit = 'min(x, foo) +' } }
r = { args = ['x'], closed_form = { log_truth = '-x' } }
s = { args = ['y'], closed_form = { log_truth = '-norm(y)' } }
u = { args = ['x', 'z'], closed_form = { log_truth = '-norm(x)' } }
",
        ),
    ]);
    let run = folder.refuses(&["check", "m.toml", "--json"]);
    let found = run.json();
    for (place, words) in [
        ("m.toml:8:", "`y` is neither"),
        ("m.toml:9:", "found"),
        ("m.toml:10:", "a vector of 2"),
        ("nowhere.csv", "no such file"),
        ("t.csv, row 1 (line 3)", "no individual 7"),
        ("m.toml:12:", "1 argument"),
    ] {
        run.complains(place);
        run.complains(words);
    }
    // What could not be read is not the fault of the closed form that reads it, and nothing is said twice.
    assert_eq!(
        found["errors"].as_array().expect("errors").len(),
        6,
        "{}",
        run.stderr
    );
}

/// A block of the page on knowledge graphs that begins with this line.
fn documented(first: &str) -> String {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/knowledge-graphs.md"
    );
    let page = std::fs::read_to_string(page).expect("the page");
    let start = page.find(first).expect("the block");
    let end = page[start..].find("```").expect("its end");
    page[start..start + end].to_string()
}

/// Numbers modulo 24 and what is one, two and five further: every fact follows from few others.
fn around() -> Folder {
    let entity = |i: usize| format!("n{}", i % 24);
    let (mut parts, mut entities) = (vec!["h,r,t\n".to_string(); 3], String::new());
    for i in 0..24 {
        entities += &format!("{}\n", entity(i));
        for (r, step) in [1, 2, 5].into_iter().enumerate() {
            let part = match (i + 7 * r) % 8 {
                0 => 1,
                1 => 2,
                _ => 0,
            };
            parts[part] += &format!("{},plus{step},{}\n", entity(i), entity(i + step));
        }
    }
    Folder::new(&[
        ("complex.ltn", documented("# complex.ltn").as_bytes()),
        ("complex.toml", documented("# complex.toml").as_bytes()),
        ("entities.txt", entities.as_bytes()),
        ("relations.txt", b"plus1\nplus2\nplus5\n"),
        ("train.csv", parts[0].as_bytes()),
        ("valid.csv", parts[1].as_bytes()),
        ("test.csv", parts[2].as_bytes()),
    ])
}

#[test]
fn complex_as_it_is_documented() {
    let folder = around();
    folder.change("complex.toml", "batch = 100", "batch = 20");
    folder.change("complex.toml", "epochs = 50", "epochs = 200");
    folder.ok(&["check", "complex.toml"]);
    folder.ok(&["train", "complex.toml", "--out", "a"]);
    let found = folder.json(&["eval", "complex.toml", "--run", "a"]);
    // Guessing among 24 has .16; each test fact is told by others.
    for name in ["mrr(linked, t)", "mrr(linked_from, h)"] {
        assert!(metric(&found, name) > 0.5, "{found}");
    }
    // A softmax says which of all entities it is.
    let said = folder.json(&["predict", "complex.toml", "linked", "--run", "a"]);
    let rows = said["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 24 * 3);
    // The same seed in sparse steps, which move only what they read: with a softmax over all that is everything.
    folder.change(
        "complex.toml",
        "learning_rate = 0.02",
        "learning_rate = 0.02\noptimizer = 'sparse_adam'",
    );
    folder.change("complex.toml", "batch = 20", "batch = 1000");
    folder.ok(&["train", "complex.toml", "--out", "sparse"]);
    folder.change("complex.toml", "'sparse_adam'", "'adam'");
    folder.ok(&["train", "complex.toml", "--out", "dense"]);
    let of = |run: &str| {
        let found = folder.json(&["eval", "complex.toml", "--run", run]);
        metric(&found, "mrr(linked, t)")
    };
    assert_eq!(of("sparse"), of("dense"));
}

#[test]
fn a_softmax_needs_two_classes() {
    let folder = around();
    folder.write("entities.txt", b"n0\n");
    for part in ["train.csv", "valid.csv", "test.csv"] {
        folder.write(part, b"h,r,t\nn0,plus1,n0\n");
    }
    let run = folder.run(&["check", "complex.toml"]).ends(2);
    assert!(
        run.stderr.contains("`linked` cannot be a softmax"),
        "{}",
        run.stderr
    );
    folder.change(
        "complex.toml",
        "learnable = 32 }     #",
        "learnable = 31 }     #",
    );
    folder.write("entities.txt", b"n0\nn1\n");
    let run = folder.run(&["check", "complex.toml"]).ends(2);
    assert!(run.stderr.contains("`h` is 31 numbers"), "{}", run.stderr);
}
