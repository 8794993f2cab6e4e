//! The dashboard in a real browser: what people see, press and type.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::Folder;
use crate::common::browser::{Browser, document_picture};
use crate::common::served::{Served, pictures_project, trained};
use serde_json::json;

/// A training in the background, until it is dropped.
struct Training(Child);

impl Training {
    fn start(folder: &Folder, name: &str, seed: &str) -> Training {
        let child = Command::new(env!("CARGO_BIN_EXE_logltn"))
            .args([
                "train",
                "m.toml",
                "--out",
                &format!("runs/{name}"),
                "--steps",
                "100000000",
            ])
            .args(["--seed", seed, "--threads", "1"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Training(child.expect("the program runs"))
    }
}

impl Drop for Training {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The last step of a chart, as the page shows it.
fn last_step(browser: &mut Browser, chart: &str) -> f64 {
    let last = format!(
        "Number(document.querySelector('[data-chart=\"{chart}\"] .plot')?.dataset.last || 0)"
    );
    browser.get(&last).as_f64().unwrap_or(0.0)
}

#[test]
fn people_follow_a_training() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = pictures_project();
    trained(&folder, "first", &[]);
    trained(&folder, "second", &["--seed", "2"]);
    let served = Served::start(&folder.path().join("runs"), &[]);
    browser.open(&served.url);
    browser.wait("document.querySelectorAll('#run-table tbody tr').length === 2");
    browser.wait("document.querySelector('[data-chart=\"loss\"] canvas')");
    for chart in [
        "sat",
        "metric:accuracy(kind)",
        "axiom:no_rows",
        "gradient norm",
        "learning rate",
        "α",
    ] {
        browser.wait(&format!(
            "document.querySelector('[data-chart=\"{chart}\"] canvas')"
        ));
    }

    // A run appears while it trains, within two seconds of its first record, and its curves move.
    let training = Training::start(&folder, "live", "3");
    let records = folder.path().join("runs/live/metrics.jsonl");
    while !std::fs::metadata(&records).is_ok_and(|file| file.len() > 0) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let took =
        browser.wait("document.querySelector('tr[data-run=\"live\"] [data-state=\"running\"]')");
    eprintln!("a new run was seen after {took:?}");
    browser.press("tr[data-run=\"live\"] .open");
    browser.wait("document.getElementById('run-title').innerText === 'live'");
    browser.press("#choose-none");
    browser.press("tr[data-run=\"live\"] input[type=checkbox]");
    // Not yet while the other runs are still drawn.
    browser.wait("document.querySelector('[data-chart=\"loss\"]')?.getAttribute('aria-label')?.startsWith('Loss: live ends')");
    let before = last_step(&mut browser, "loss");
    let moved = format!(
        "Number(document.querySelector('[data-chart=\"loss\"] .plot')?.dataset.last ?? 0) > {before}"
    );
    let took = browser.wait(&moved);
    eprintln!("a curve moved after {took:?}");

    // What nobody sees is not asked for, until it is seen.
    let hidden =
        "Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })";
    browser.get(&format!("void {hidden}"));
    std::thread::sleep(Duration::from_millis(500));
    let asked = "performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/curves')).length";
    let before = browser.get(asked);
    std::thread::sleep(Duration::from_millis(3000));
    assert_eq!(browser.get(asked), before);
    browser.get("delete document.hidden && document.dispatchEvent(new Event('visibilitychange'))");
    browser.wait(&format!("{asked} > {before}"));

    // A zoom stays while the curve continues.
    browser.get("document.querySelector('[data-chart=\"loss\"]').focus()");
    for key in ["+", "+"] {
        let event = format!("new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }})");
        browser.get(&format!("document.activeElement.dispatchEvent({event})"));
    }
    browser.wait("!document.getElementById('whole').disabled");
    let before = last_step(&mut browser, "sat");
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(
        browser.get("document.getElementById('whole').disabled"),
        json!(false),
        "the zoom was lost"
    );
    browser.press("#whole");
    browser.wait(&format!(
        "Number(document.querySelector('[data-chart=\"sat\"] .plot')?.dataset.last ?? 0) > {before}"
    ));

    // Keys read values out.
    let arrow = "new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true })";
    browser.get(&format!(
        "document.querySelector('[data-chart=\"loss\"]').dispatchEvent({arrow})"
    ));
    browser.wait("document.getElementById('reading').textContent.includes('Loss, step')");

    // What breaks an axiom, while it trains.
    browser.press("[data-axiom=\"no_rows\"]");
    browser.wait("document.querySelector('.explanation .grounding .truth')");
    assert!(
        browser
            .get("document.querySelectorAll('.explanation .seen img').length")
            .as_f64()
            >= Some(10.0)
    );
    browser.wait("document.querySelector('.seen img').naturalWidth === 8");
    assert!(
        browser.text(".explanation").contains("kind("),
        "{}",
        browser.text(".explanation")
    );
    drop(training);
    browser.wait("document.querySelector('tr[data-run=\"live\"] [data-state]')");

    // A question, with a mistake at first.
    browser.press("#tab-query");
    let ask = |browser: &mut Browser, formula: &str| {
        browser.wait("document.getElementById('question')");
        browser.get(&format!(
            "document.getElementById('question').value = {formula:?}"
        ));
        browser.press(".query button");
    };
    ask(&mut browser, "find x: Image. knd(x, row)");
    browser.wait("document.querySelector('.marked mark')");
    assert_eq!(browser.text(".marked mark"), "knd");
    assert!(
        browser.text(".mistakes").contains("knd"),
        "{}",
        browser.text(".mistakes")
    );
    assert_eq!(
        browser.get("document.getElementById('question').getAttribute('aria-invalid')"),
        json!("true")
    );
    ask(&mut browser, "find x: Image. kind(x, row)");
    browser.wait("document.querySelectorAll('table.answers tbody tr').length === 12");
    ask(&mut browser, "forall x: Image. exists k: Kind. kind(x, k)");
    browser.wait("document.querySelector('.answer .truth-value')");

    // Classes against labels, and points that say what they are.
    browser.press("tr[data-run=\"first\"] .open");
    browser.press("#tab-networks");
    browser.wait("document.querySelectorAll('.confusion tbody tr').length === 3");
    browser.wait("document.querySelector('.scatter canvas').width > 100");
    browser.get(
        "(() => { const c = document.querySelector('.scatter canvas'); const b = c.getBoundingClientRect(); \
         for (let x = 0; x < b.width; x += 10) for (let y = 0; y < b.height; y += 10) \
           c.dispatchEvent(new PointerEvent('pointermove', { clientX: b.left + x, clientY: b.top + y })); })()",
    );
    assert!(
        browser.text(".scatter [role=status]").contains("Image "),
        "{}",
        browser.text(".scatter")
    );

    // Manifests by key; seeds as one.
    browser.press("#choose-all");
    browser.press("#tab-told");
    browser.wait("[...document.querySelectorAll('.told tbody th')].some((key) => key.innerText === 'train.seed')");
    // Those that are chosen now.
    let heads = "document.querySelectorAll('.told thead th').length";
    browser.wait(&format!("{heads} === 4"));
    browser.press("tr[data-run=\"second\"] input[type=checkbox]");
    browser.wait(&format!("{heads} === 3"));
    browser.press("tr[data-run=\"second\"] input[type=checkbox]");
    browser.wait(&format!("{heads} === 4"));
    browser.press("#seeds");
    browser.wait("[...document.querySelectorAll('[data-chart=\"loss\"] .u-label')].some((label) => label.textContent.includes('more seeds'))");
    browser.press("#seeds");

    // Sorted, filtered, pinned.
    browser.press("[data-sort=\"name\"]");
    let order =
        "[...document.querySelectorAll('#run-table tbody tr')].map((row) => row.dataset.run)";
    assert_eq!(browser.get(order), json!(["first", "live", "second"]));
    browser.press("tr[data-run=\"second\"] .pin");
    assert_eq!(browser.get(order), json!(["second", "first", "live"]));
    browser.get("(() => { const f = document.getElementById('filter'); f.value = 'seed=2'; f.dispatchEvent(new Event('input')); })()");
    assert_eq!(browser.get(order), json!(["second"]));
    // All of it is kept.
    let colour = "getComputedStyle(document.querySelector('tr[data-run=\"second\"] .swatch')).backgroundColor";
    let before = browser.get(colour);
    browser.open(&served.url);
    browser.wait("document.querySelectorAll('#run-table tbody tr').length === 3");
    assert_eq!(browser.get(order), json!(["second", "first", "live"]));
    assert_eq!(browser.get(colour), before);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// People are shown truth degrees beside their logs, are told where a log is above 0 and what samples left out, and can read
/// the axis of a number that hardly changes.
#[test]
fn truths_say_what_they_are() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = pictures_project();
    trained(
        &folder,
        "lse",
        &["--semantics", "logltn-lse", "--steps", "40"],
    );
    trained(
        &folder,
        "stable",
        &["--semantics", "stable", "--steps", "40"],
    );
    // Samples that often have nobody for an `exists`: a circle of twelve.
    let (names, links): (String, String) = (0..12)
        .map(|i| (format!("e{i}\n"), format!("e{i},e{}\n", (i + 1) % 12)))
        .unzip();
    for (name, text) in [
        ("e.txt", &names[..]),
        ("tr.csv", &format!("h,t\n{links}")),
        (
            "t.ltn",
            "sort E\ntable tr(h: E, t: E)\npredicate link(E, E)\n\
             axiom has: forall h: E. exists t: E where tr(h, t). link(h, t)\n",
        ),
        (
            "m.toml",
            "theory = \"t.ltn\"\n[sorts.E]\nindividuals = \"e.txt\"\nlearnable = 4\nsample = 3\n\
             [tables]\ntr = { rows = \"tr.csv\" }\n\
             [predicates.link]\nclosed_form = { logit = \"2 - dist(a1, a2)\" }\n[train]\nsteps = 20\n",
        ),
    ] {
        folder.write(&format!("circle/{name}"), text.as_bytes());
    }
    folder.ok(&["train", "circle/m.toml", "--out", "runs/sampled"]);
    // One whose loss hardly changes.
    let still = folder.path().join("runs/still");
    std::fs::create_dir(&still).unwrap();
    let records: String = (1..=50)
        .map(|step| {
            let loss = 0.613147 + 1e-6 * f64::from(step % 5);
            format!("{{\"step\":{step},\"loss\":{loss},\"sat\":{},\"gradient_norm\":null,\"step_time\":0.1,\"axioms\":{{}},\"metrics\":{{}}}}\n", -loss)
        })
        .collect();
    std::fs::write(still.join("metrics.jsonl"), records).unwrap();

    let served = Served::start(&folder.path().join("runs"), &[]);
    let report = format!("file://{}/runs/lse/report.html", folder.path().display());
    for url in [&report, &served.url] {
        browser.open(url);
        browser.press("tr[data-run=\"lse\"] .open");
        browser.wait("document.getElementById('run-title').innerText === 'lse'");
        browser.press("#tab-axioms");
        browser.wait("document.querySelector('.axioms .truth-value')");
        let axioms = browser.text(".axioms");
        assert!(
            axioms.contains("1 (capped, log 0") || axioms.contains("1 (capped, log 1"),
            "{axioms}"
        );
        assert!(axioms.contains("(log −"), "{axioms}");
        assert!(
            browser
                .text("#panel")
                .contains("Truths of the whole theory with the last weights")
        );
        assert!(
            browser.text("tr[data-run=\"lse\"]").contains("log "),
            "{}",
            browser.text("tr[data-run=\"lse\"]")
        );
        browser.wait("document.querySelector('[data-chart=\"axiom:some\"] figcaption')?.innerText.includes('logs above 0 capped')");
        // Degrees end at 1, whatever the logs are.
        let above = "[...document.querySelectorAll('[data-chart=\"axiom:some\"] .u-value')].map((v) => v.textContent).join()";
        let shown = browser.get(above);
        assert!(shown.as_str().unwrap().contains("1 (capped)"), "{shown}");
        browser.press("[data-axiom=\"some\"]");
        browser.wait("document.querySelector('.explanation')");
        let told = browser.text(".explanation");
        assert!(
            told.contains("(capped, log ") && told.contains("Truth 1 (capped"),
            "{told}"
        );
    }
    // Where truths are no logs, none is spoken of.
    browser.press("tr[data-run=\"stable\"] .open");
    browser.wait("document.getElementById('run-title').innerText === 'stable'");
    browser.wait("document.querySelector('.axioms .truth-value')");
    let axioms = browser.text(".axioms");
    assert!(
        !axioms.contains("log") && !axioms.contains("capped"),
        "{axioms}"
    );
    let order = "[...document.querySelectorAll('.axioms .truth-value')].map((v) => parseFloat(v.innerText))";
    let truths: Vec<f64> = serde_json::from_value(browser.get(order)).unwrap();
    assert!(
        truths.len() == 3 && truths.is_sorted(),
        "the least satisfied is not the first: {truths:?}"
    );
    // What the samples left out stands beside the axiom.
    browser.press("tr[data-run=\"sampled\"] .open");
    browser.wait("document.getElementById('run-title').innerText === 'sampled'");
    browser.wait("[...document.querySelectorAll('.axioms li')].some((li) => li.innerText.includes('has') && /[1-9]\\d* exists left out in all steps/.test(li.innerText))");
    // Marks that differ are written so that they differ.
    browser.press("#choose-none");
    browser.press("tr[data-run=\"still\"] input[type=checkbox]");
    browser.wait("document.querySelector('[data-chart=\"loss\"]')?.getAttribute('aria-label')?.includes('still')");
    let marks = browser.get("document.querySelector('[data-chart=\"loss\"] .plot').dataset.marks");
    let marks: Vec<&str> = marks.as_str().expect("marks").split(' ').collect();
    let different: std::collections::BTreeSet<&&str> = marks.iter().collect();
    assert!(
        marks.len() > 2 && different.len() == marks.len(),
        "{marks:?}"
    );
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// What one looks at is in the address; columns, charts and groups of seeds are as one wants them; a report begins with words,
/// and an empty folder says how to begin.
#[test]
fn what_is_looked_at_can_be_sent_to_others() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = pictures_project();
    folder.change("m.toml", "{ linear = [0.01, 0.001] }", "0.01");
    trained(&folder, "first", &[]);
    trained(&folder, "second", &["--seed", "2"]);
    let served = Served::start(&folder.path().join("runs"), &[]);
    browser.open(&format!(
        "{}#runs=second&focus=second&tab=axioms&axiom=no_rows&steps=2-6",
        served.url
    ));
    browser.wait("document.querySelector('.explanation .grounding')");
    assert_eq!(browser.text("#run-title"), "second");
    let chosen = "[...document.querySelectorAll('#run-table input:checked')].map((box) => box.closest('tr').dataset.run)";
    assert_eq!(browser.get(chosen), json!(["second"]));
    browser.wait("!document.getElementById('whole').disabled");
    // And what is looked at then.
    browser.press("tr[data-run=\"first\"] .open");
    browser.press("#tab-networks");
    browser.press("#whole");
    browser.wait("location.hash.includes('focus=first') && location.hash.includes('tab=networks') && !location.hash.includes('steps')");
    // A click anywhere in a row opens its run.
    browser.press("tr[data-run=\"second\"] td.number");
    browser.wait("location.hash.includes('focus=second') && document.getElementById('run-title').innerText === 'second'");
    // Columns can be searched and hidden, which stays.
    browser.press("#columns summary");
    browser.wait("document.querySelectorAll('#column-list label').length > 4");
    browser.get("(() => { const f = document.getElementById('column-filter'); f.value = 'loss'; f.dispatchEvent(new Event('input')); })()");
    browser.wait("document.querySelectorAll('#column-list label').length === 1");
    browser.press("#column-list input");
    browser.wait("!document.querySelector('[data-sort=\"loss\"]')");
    // Seeds of one configuration have their own line.
    browser.press("#seeds");
    browser.wait("document.querySelector('tr.group')?.innerText.includes('2 seeds of') && location.hash.includes('seeds=mean')");
    // A chart that is pinned stands first; a schedule that never changes is one line.
    browser.press("[data-chart=\"gradient norm\"] .pin");
    browser.wait(
        "document.querySelector('#charts').firstElementChild.dataset.chart === 'gradient norm'",
    );
    browser.wait("document.querySelector('.folded')?.innerText.includes('Learning rate') && !document.querySelector('[data-chart=\"learning rate\"]')");
    // On a wide page the run stands beside the table.
    browser.size(1400, 900);
    browser.wait("document.getElementById('run').getBoundingClientRect().left >= document.getElementById('runs').getBoundingClientRect().right");
    // The report, and an empty folder.
    browser.open(&format!(
        "file://{}/runs/first/report.html",
        folder.path().display()
    ));
    browser.wait("document.querySelector('#words li')");
    // Its pictures stand below the words, without a click.
    browser.wait("document.querySelector('#panel .confusion')");
    let words = browser.text("#words");
    assert!(
        words.contains("What was learnt: kind(Image, Kind)")
            && words.contains("How well: kind is right in "),
        "{words}"
    );
    let empty = Folder::new(&[("runs/.keep", b"")]);
    let served = Served::start(&empty.path().join("runs"), &[]);
    browser.open(&served.url);
    browser.wait("!document.getElementById('beginning').hidden && document.getElementById('beginning').innerText.includes('logltn train')");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// What a run says is text, wherever it stands.
#[test]
fn names_and_messages_are_no_markup() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = pictures_project();
    trained(
        &folder,
        "<img src=x onerror=document.title=1>",
        &["--steps", "3"],
    );
    let run = folder
        .path()
        .join("runs/<img src=x onerror=document.title=1>");
    // As a run of somebody else might be, without a checksum.
    let text = std::fs::read_to_string(run.join("run.json")).unwrap();
    let mut info: serde_json::Value = serde_json::from_str(&text).unwrap();
    info.as_object_mut().unwrap().remove("check");
    for key in ["title", "reason", "semantics", "started"] {
        info[key] = json!("</script><script>document.title=2</script><b id=evil>&amp;");
    }
    info["axioms"][0]["name"] = json!("<b id=evil>axiom</b>");
    info["model"]["<b id=evil>"] = json!("<b id=evil>");
    std::fs::write(run.join("run.json"), info.to_string()).unwrap();
    let served = Served::start(&folder.path().join("runs"), &[]);
    folder.ok(&["dashboard", "runs", "--export", "all.html"]);
    let file = format!("file://{}", folder.path().join("all.html").display());
    for (url, title) in [(&served.url, "logltn"), (&file, "runs")] {
        browser.open(url);
        browser.wait("document.querySelector('#run-table tbody tr')");
        browser.wait("document.getElementById('panel').children.length > 0");
        browser.press("#tab-told");
        browser.wait("document.querySelector('.facts dt')");
        assert_eq!(
            browser.get("document.querySelectorAll('#evil, main img').length"),
            json!(0)
        );
        assert_eq!(browser.get("document.title"), json!(title));
        assert!(
            browser.text("#run-table").contains("<script>"),
            "{}",
            browser.text("#run-table")
        );
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// The export and the report open without a server, on paper-white and at night, on a telephone.
#[test]
fn the_export_and_the_report_need_no_server() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = pictures_project();
    trained(&folder, "a", &[]);
    trained(&folder, "b", &["--seed", "2"]);
    folder.ok(&["dashboard", "runs", "--export", "all.html"]);
    for (file, runs) in [("all.html", 2), ("runs/a/report.html", 1)] {
        browser.open(&format!("file://{}", folder.path().join(file).display()));
        browser.wait(&format!(
            "document.querySelectorAll('#run-table tbody tr').length === {runs}"
        ));
        browser.wait("document.querySelector('[data-chart=\"loss\"] canvas')");
        browser.press("#tab-axioms");
        browser.press("[data-axiom=\"no_rows\"]");
        browser.wait("document.querySelector('.explanation .seen img')");
        browser.press("#tab-networks");
        browser.wait("document.querySelectorAll('.confusion tbody tr').length === 3");
        browser.press("#tab-query");
        browser.wait("document.getElementById('panel').innerText.includes('logltn dashboard')");
    }
    // What is under the pointer is read, also when the chart moves below it.
    let press = |browser: &mut Browser, key: &str| {
        let event = format!("new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }})");
        browser.get(&format!(
            "document.querySelector('[data-chart=\"loss\"]').dispatchEvent({event})"
        ));
    };
    let step =
        "Number(document.querySelector('[data-chart=\"loss\"] .u-legend .u-value').textContent)";
    press(&mut browser, "+");
    browser.wait("!document.getElementById('whole').disabled");
    browser.get(
        "(() => { const over = document.querySelector('[data-chart=\"loss\"] .u-over'); const b = over.getBoundingClientRect(); \
         over.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, clientX: b.left + b.width / 4, clientY: b.top + 20 })); })()",
    );
    browser.wait(&format!("Math.abs({step} - 75) <= 2"));
    press(&mut browser, "0");
    browser.wait(&format!("Math.abs({step} - 51) <= 2"));
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.open(&format!(
            "file://{}",
            folder.path().join("all.html").display()
        ));
        browser.wait("document.querySelector('[data-chart=\"loss\"] canvas')");
        let back = browser.get("getComputedStyle(document.body).backgroundColor");
        assert_eq!(
            back,
            json!(if scheme == "light" {
                "rgb(255, 255, 255)"
            } else {
                "rgb(15, 20, 25)"
            })
        );
        assert_eq!(too_faint(&mut browser), json!([]), "{scheme}");
    }
    // Nothing but tables in their frames is wider than a telephone.
    browser.size(400, 800);
    browser.open(&format!(
        "file://{}",
        folder.path().join("all.html").display()
    ));
    for tab in ["axioms", "query", "networks", "told"] {
        browser.press(&format!("#tab-{tab}"));
        std::thread::sleep(Duration::from_millis(300));
        let width = browser.get("document.documentElement.scrollWidth");
        assert!(width.as_f64() <= Some(400.0), "{tab}: {width}");
    }
    // Whatever can be pressed or filled in says what it is.
    let nameless = "[...document.querySelectorAll('button, input, textarea, [role=img], canvas[tabindex], [role=region], figure[tabindex]')] \
        .filter((e) => !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML)";
    assert_eq!(browser.get(nameless), json!([]));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// The texts whose contrast to what is behind them is below what WCAG asks for, 4.5.
fn too_faint(browser: &mut Browser) -> serde_json::Value {
    browser.get(
        "(() => {
          const parse = (c) => { const n = c.match(/[\\d.]+/g).map(Number); return c.startsWith('color(srgb') ? n.map((x, i) => i < 3 ? 255 * x : x) : n; };
          const light = ([r, g, b]) => { const f = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
            return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
          const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if ((c[3] ?? 1) > 0.99) return c; } return [255, 255, 255]; };
          const found = new Set();
          for (const e of document.querySelectorAll('body *')) {
            if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.offsetParent || e.closest('[disabled], .visually-hidden, .skip, script, .pin')) continue;
            const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
            const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (contrast < 4.5) found.add(`${e.tagName} ${e.className} ${contrast.toFixed(2)}: ${e.textContent.slice(0, 30)}`);
          }
          return [...found];
        })()",
    )
}

/// The pictures of the documents: `LOGLTN_WRITE=1 cargo test -p logltn-cli --test all dashboard_browser::pictures`.
#[test]
fn pictures_for_the_documents() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = pictures_project();
    for seed in ["1", "2", "3"] {
        trained(
            &folder,
            &format!("seed-{seed}"),
            &["--seed", seed, "--steps", "400"],
        );
    }
    trained(&folder, "prod", &["--semantics", "prod", "--steps", "400"]);
    let served = Served::start(&folder.path().join("runs"), &[]);
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.size(1280, 1000);
        browser.open(&served.url);
        browser.wait("document.querySelectorAll('[data-chart] canvas').length >= 6");
        browser.press("tr[data-run=\"seed-1\"] .open");
        browser.wait("document.getElementById('run-title').innerText === 'seed-1'");
        std::thread::sleep(Duration::from_millis(700));
        browser.get("window.scrollTo(0, 0)");
        document_picture(&format!("dashboard-{scheme}.png"), &browser.picture());
        browser.press("#tab-axioms");
        browser.press("[data-axiom=\"no_rows\"]");
        browser.wait("document.querySelector('.explanation .seen img')");
        browser.get("document.getElementById('run').scrollIntoView()");
        std::thread::sleep(Duration::from_millis(400));
        document_picture(&format!("dashboard-axiom-{scheme}.png"), &browser.picture());
    }
}
