//! `logltn lsp`: a language server for theories and manifests, over standard input and output.
//!
//! Each document is read again whenever it changes: theories and manifests are small. The data is read when a manifest is opened
//! or saved, not while one types.

mod complete;
mod definition;
mod documents;
mod hover;
mod rename;
mod toml_place;
mod uri;

use logltn::{Diagnostic, Severity};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde_json::{Value, json};

use documents::Documents;

/// Serves one client until it shuts down.
pub fn serve() -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let capabilities = json!({
        "textDocumentSync": { "openClose": true, "change": 1, "save": { "includeText": false } },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": [".", "\"", "[", "{", " "] },
        "definitionProvider": true,
        "renameProvider": { "prepareProvider": true },
        "documentFormattingProvider": true,
        "positionEncoding": "utf-16",
    });
    match connection.initialize(capabilities) {
        Ok(_) => {}
        // The client left before initialisation.
        Err(error) if error.channel_is_disconnected() => return Ok(()),
        Err(error) => return Err(error.to_string()),
    }
    let mut server = Server {
        documents: Documents::default(),
        connection,
    };
    let result = server.run();
    // The threads end when all senders are dropped.
    drop(server);
    threads.join().map_err(|error| error.to_string())?;
    result
}

struct Server {
    documents: Documents,
    connection: Connection,
}

impl Server {
    fn run(&mut self) -> Result<(), String> {
        while let Ok(message) = self.connection.receiver.recv() {
            match message {
                Message::Request(request) => {
                    let ended = self.connection.handle_shutdown(&request);
                    if ended.map_err(|error| error.to_string())? {
                        return Ok(());
                    }
                    let response = self.answer(&request);
                    self.send(Message::Response(response))?;
                }
                Message::Notification(notification) => self.hear(&notification)?,
                Message::Response(_) => {}
            }
        }
        Ok(())
    }

    fn send(&self, message: Message) -> Result<(), String> {
        self.connection
            .sender
            .send(message)
            .map_err(|error| error.to_string())
    }

    fn hear(&mut self, notification: &Notification) -> Result<(), String> {
        let params = &notification.params;
        let document = &params["textDocument"];
        let Some(uri) = document["uri"].as_str() else {
            return Ok(());
        };
        let mut with_data = false;
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let text = document["text"].as_str().unwrap_or_default();
                let language = document["languageId"].as_str().unwrap_or_default();
                self.documents.open(uri, text, language);
                with_data = true;
            }
            "textDocument/didChange" => {
                let changes = params["contentChanges"].as_array();
                let text = changes.and_then(|changes| changes.last()?["text"].as_str());
                self.documents.change(uri, text.unwrap_or_default());
            }
            "textDocument/didSave" => with_data = true,
            "textDocument/didClose" => {
                self.documents.close(uri);
                return self.publish(uri, &[]);
            }
            _ => return Ok(()),
        }
        for (uri, diagnostics) in self.documents.check(uri, with_data) {
            self.publish(&uri, &diagnostics)?;
        }
        Ok(())
    }

    fn publish(&self, uri: &str, diagnostics: &[Value]) -> Result<(), String> {
        let params = json!({ "uri": uri, "diagnostics": diagnostics });
        let method = "textDocument/publishDiagnostics".to_string();
        self.send(Message::Notification(Notification { method, params }))
    }

    fn answer(&self, request: &Request) -> Response {
        let params = &request.params;
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let place = self.documents.place(uri, &params["position"]);
        let result = match (request.method.as_str(), place) {
            ("textDocument/formatting", _) => Ok(self.documents.formatted(uri)),
            ("textDocument/hover", Some(place)) => Ok(hover::hover(&place)),
            ("textDocument/completion", Some(place)) => Ok(complete::complete(&place)),
            ("textDocument/definition", Some(place)) => Ok(definition::definition(&place)),
            ("textDocument/prepareRename", Some(place)) => rename::prepare(&place),
            ("textDocument/rename", Some(place)) => {
                rename::rename(&place, params["newName"].as_str().unwrap_or_default())
            }
            (
                "textDocument/hover"
                | "textDocument/completion"
                | "textDocument/definition"
                | "textDocument/prepareRename"
                | "textDocument/rename",
                None,
            ) => Ok(Value::Null),
            (method, _) => {
                let message = format!("`{method}` is not supported");
                let code = ErrorCode::MethodNotFound as i32;
                return Response::new_err(request.id.clone(), code, message);
            }
        };
        match result {
            Ok(result) => Response::new_ok(request.id.clone(), result),
            Err(message) => {
                Response::new_err(request.id.clone(), ErrorCode::RequestFailed as i32, message)
            }
        }
    }
}

/// A diagnostic as the protocol has it; the range is that of its place.
fn message(diagnostic: &Diagnostic, range: Value) -> Value {
    let mut text = diagnostic.message().to_string();
    for note in diagnostic.notes() {
        text += &format!("\nnote: {note}");
    }
    if let Some(help) = diagnostic.help_text() {
        text += &format!("\nhelp: {help}");
    }
    json!({
        "range": range,
        "severity": match diagnostic.severity() {
            Severity::Error => 1,
            Severity::Warning => 2,
        },
        "code": diagnostic.code().name(),
        "source": "logltn",
        "message": text,
    })
}
