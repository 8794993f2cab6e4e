// The TextMate grammars with the engine that VS Code uses: every theory of the repository, and a theory in a Python string.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { createOnigScanner, createOnigString, loadWASM } = require("vscode-oniguruma");
const { Registry, INITIAL, parseRawGrammar } = require("vscode-textmate");

const here = path.join(__dirname, "..");
const root = path.join(here, "..", "..");
const grammar = (name) => parseRawGrammar(fs.readFileSync(path.join(here, "syntaxes", name), "utf8"), name);
// Just enough of Python for its strings.
const python = parseRawGrammar(
    JSON.stringify({
        scopeName: "source.python",
        patterns: [{ name: "string.quoted.multi.python", begin: '"""', end: '"""' }],
    }),
    "python.json",
);

async function registry() {
    await loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
    return new Registry({
        onigLib: Promise.resolve({ createOnigScanner, createOnigString }),
        loadGrammar: async (scope) =>
            ({
                "source.ltn": grammar("ltn.tmLanguage.json"),
                "source.python": python,
                "python.ltn.injection": grammar("python.injection.json"),
            })[scope] ?? null,
        getInjections: (scope) => (scope === "source.python" ? ["python.ltn.injection"] : undefined),
    });
}

// [text, scopes] of every token.
function tokens(grammar, text) {
    let state = INITIAL;
    const all = [];
    for (const line of text.split("\n")) {
        const result = grammar.tokenizeLine(line, state);
        for (const token of result.tokens) {
            all.push([line.slice(token.startIndex, token.endIndex), token.scopes]);
        }
        state = result.ruleStack;
    }
    return all;
}

function theories(folder) {
    return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const file = path.join(folder, entry.name);
        return entry.isDirectory() ? theories(file) : file.endsWith(".ltn") ? [file] : [];
    });
}

const has = (scopes, name) => scopes.some((scope) => scope.startsWith(name));

(async () => {
    const all = await registry();
    const ltn = await all.loadGrammar("source.ltn");
    const files = ["conformance", "theories", "crates/logltn-examples/projects"].flatMap((f) => theories(path.join(root, f)));
    assert(files.length >= 30);
    for (const file of files) {
        for (const [text, scopes] of tokens(ltn, fs.readFileSync(file, "utf8"))) {
            // An axiom may be called `any`.
            if (["comment", "string", "entity.name"].some((name) => has(scopes, name))) continue;
            const where = `${file}: ${JSON.stringify(text)} is ${scopes}`;
            if (/^(forall|exists|and|or|not|all|any)$/.test(text)) assert(has(scopes, "keyword.operator.wordlike"), where);
            if (/^(where|in|for)$/.test(text)) assert(has(scopes, "keyword.control"), where);
            if (/^\d+$/.test(text)) assert(has(scopes, "constant.numeric"), where);
        }
    }
    const py = await all.loadGrammar("source.python");
    const text = 'kb = KB("""\n    sort Person\n    axiom a: forall x: Person. happy(x)   # yes\n""", x)\nfor y in z: pass\n';
    const inside = tokens(py, text);
    const scopes = (word) => inside.filter(([text]) => text === word).map(([, scopes]) => scopes);
    assert(has(scopes("forall")[0], "keyword.operator.wordlike.ltn"));
    assert(scopes("forall")[0].includes("meta.embedded.block.ltn"));
    const after = inside.filter(([text]) => text.includes("for y"));
    assert(after.length === 1 && !after[0][1].includes("meta.embedded.block.ltn"), "the string ends");
    console.log(`${files.length} theories and a Python string are highlighted as they should be`);
})();
