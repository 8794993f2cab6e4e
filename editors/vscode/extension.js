// Starts `logltn lsp` for theories, and for the manifests that ground them; what it says about other TOML files is nothing.
"use strict";
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
    const command = workspace.getConfiguration("logltn").get("path", "logltn");
    client = new LanguageClient(
        "logltn",
        "logltn",
        { command, args: ["lsp"] },
        {
            documentSelector: [
                { scheme: "file", language: "ltn" },
                { scheme: "file", language: "toml" },
            ],
        },
    );
    return client.start();
}

function deactivate() {
    return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
