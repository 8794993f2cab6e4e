//! `logltn schema` and `docs/manifest.md`, which come from the table of keys.

use std::path::{Path, PathBuf};

use logltn_train::manifest::keys::{page, schema};
use serde_json::{Map, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A TOML value as JSON.
fn json(value: &toml::de::DeValue<'_>) -> Value {
    use toml::de::DeValue::*;
    match value {
        String(text) => Value::from(text.as_ref()),
        Integer(n) => Value::from(i64::from_str_radix(n.as_str(), n.radix()).unwrap()),
        Float(x) => Value::from(x.as_str().parse::<f64>().unwrap()),
        Boolean(b) => Value::from(*b),
        Datetime(d) => Value::from(d.to_string()),
        Array(members) => members
            .iter()
            .map(|member| json(member.get_ref()))
            .collect(),
        Table(table) => Value::Object(object(table)),
    }
}

fn object(table: &toml::de::DeTable<'_>) -> Map<String, Value> {
    (table.iter())
        .map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())))
        .collect()
}

fn manifest(text: &str) -> Value {
    Value::Object(object(toml::de::DeTable::parse(text).unwrap().get_ref()))
}

/// Whether a document has the form that a schema wants: the part of JSON Schema that ours uses.
fn valid(document: &Value, schema: &Value, root: &Value) -> bool {
    let schema = schema.as_object().unwrap();
    schema.iter().all(|(word, rule)| match word.as_str() {
        "$schema" | "title" | "description" | "definitions" => true,
        "$ref" => {
            let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
            valid(document, root.pointer(pointer).expect("a definition"), root)
        }
        "type" => match rule.as_str().unwrap() {
            "string" => document.is_string(),
            "boolean" => document.is_boolean(),
            "number" => document.is_number(),
            "integer" => document.is_i64() || document.is_u64(),
            "array" => document.is_array(),
            "object" => document.is_object(),
            other => panic!("{other}"),
        },
        "minimum" => document
            .as_f64()
            .is_none_or(|x| x >= rule.as_f64().unwrap()),
        "minLength" => document.as_str().is_none_or(|s| !s.is_empty()),
        "minItems" => document
            .as_array()
            .is_none_or(|a| a.len() as u64 >= rule.as_u64().unwrap()),
        "maxItems" => document
            .as_array()
            .is_none_or(|a| a.len() as u64 <= rule.as_u64().unwrap()),
        "enum" => rule.as_array().unwrap().contains(document),
        "items" => document.as_array().is_none_or(|members| match rule {
            Value::Array(each) => (members.iter().zip(each)).all(|(m, r)| valid(m, r, root)),
            _ => members.iter().all(|member| valid(member, rule, root)),
        }),
        "properties" => document.as_object().is_none_or(|keys| {
            let known = rule.as_object().unwrap();
            (keys.iter()).all(|(key, value)| known.get(key).is_none_or(|r| valid(value, r, root)))
        }),
        "additionalProperties" => document.as_object().is_none_or(|keys| {
            let known = schema.get("properties").and_then(Value::as_object);
            let mut others = keys
                .iter()
                .filter(|(key, _)| known.is_none_or(|k| !k.contains_key(*key)));
            others.all(|(_, value)| match rule {
                Value::Bool(allowed) => *allowed,
                _ => valid(value, rule, root),
            })
        }),
        "required" => document.as_object().is_none_or(|keys| {
            (rule.as_array().unwrap().iter()).all(|key| keys.contains_key(key.as_str().unwrap()))
        }),
        "anyOf" => rule
            .as_array()
            .unwrap()
            .iter()
            .any(|r| valid(document, r, root)),
        "allOf" => rule
            .as_array()
            .unwrap()
            .iter()
            .all(|r| valid(document, r, root)),
        "not" => !valid(document, rule, root),
        other => panic!("the schema uses `{other}`, which this test does not know"),
    })
}

fn manifests() -> Vec<PathBuf> {
    let folders = [
        "theories",
        "crates/logltn-examples/projects",
        "crates/logltn-train/tests/manifests",
    ];
    (folders.iter())
        .flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect()
}

#[test]
fn all_manifests_of_the_repository_fit_the_schema() {
    let schema = schema();
    let manifests = manifests();
    assert!(manifests.len() > 15);
    for path in manifests {
        let document = manifest(&std::fs::read_to_string(&path).unwrap());
        assert!(valid(&document, &schema, &schema), "{}", path.display());
    }
}

#[test]
fn mistakes_do_not_fit_the_schema() {
    let schema = schema();
    let right = "theory = \"t.ltn\"\n";
    assert!(valid(&manifest(right), &schema, &schema));
    for wrong in [
        "",
        "theory = 1",
        "theory = \"t.ltn\"\nsemantic = \"logltn\"",
        "theory = \"t.ltn\"\nsemantics = \"logic\"",
        "theory = \"t.ltn\"\nsemantics = { or = \"mean\" }",
        "theory = \"t.ltn\"\n[sorts.S]\nfeatures = \"a.csv\"\nindividuals = [\"a\"]",
        "theory = \"t.ltn\"\n[sorts.S]\nfeatures = { columns = [\"a\"] }",
        "theory = \"t.ltn\"\n[tables]\nt = { rows = \"t.csv\", batch = 0 }",
        "theory = \"t.ltn\"\n[predicates.P]\nnetwork = { mlp = [16.5] }",
        "theory = \"t.ltn\"\n[predicates.P]\nnetwork = { layers = [{ conv = [6] }] }",
        "theory = \"t.ltn\"\n[train]\nsteps = 1\nepochs = 1",
        "theory = \"t.ltn\"\n[train]\nlr = 0.1",
        "theory = \"t.ltn\"\n[evaluate]\nmetrics = [{ predicate = \"P\" }]",
    ] {
        assert!(!valid(&manifest(wrong), &schema, &schema), "{wrong}");
    }
}

#[test]
fn the_page_of_the_documents_is_the_table() {
    let path = root().join("docs/manifest.md");
    if std::env::var_os("LOGLTN_WRITE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        written == page(),
        "LOGLTN_WRITE_DOCS=1 cargo test -p logltn-train --test all manifest_keys:: writes it"
    );
}

/// The parts of manifests on the pages of the site.
#[test]
fn toml_on_the_pages_fits_the_schema() {
    let schema = schema();
    let mut seen = 0;
    for file in std::fs::read_dir(root().join("docs")).unwrap() {
        let path = file.unwrap().path();
        // The settings of an editor are TOML, too.
        if path.extension().is_none_or(|e| e != "md") || path.ends_with("editors.md") {
            continue;
        }
        let page = std::fs::read_to_string(&path)
            .unwrap()
            .replace("\r\n", "\n");
        for block in page.split("\n```toml\n").skip(1) {
            let block = block.split("\n```").next().unwrap();
            let whole = block.lines().any(|line| line.starts_with("theory = "));
            let head = if whole { "" } else { "theory = \"t.ltn\"\n" };
            let document = manifest(&format!("{head}{block}"));
            assert!(
                valid(&document, &schema, &schema),
                "{}:\n{block}",
                path.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen}");
}
