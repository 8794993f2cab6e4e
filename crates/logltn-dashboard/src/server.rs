//! The server: few connections, small requests, short waits.
//!
//! hyper was chosen for its limits: tiny_http, the best maintained of the smaller servers, reads headers of any length, waits
//! for them without limit, and starts a thread for every connection.

use std::convert::Infallible;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use logltn::Diagnostics;
use logltn_report::page;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use crate::access::Gate;
use crate::documents;
use crate::events::{Watched, locked};
use crate::follow::Followed;
use crate::networks;
use crate::questions::{Run, messages};
use crate::runs_folder::RunsFolder;
use crate::stream::Stream;

/// How many connections may be open at once; others wait.
const MOST_CONNECTIONS: usize = 64;
/// The longest head and body of a request.
const LONGEST_HEAD: usize = 16 << 10;
const LONGEST_BODY: usize = 64 << 10;
/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// How many questions may wait for the one that is being answered: each may load a project.
const MOST_QUESTIONS: usize = 4;

/// The policy allows nothing from elsewhere, and no other page to frame this one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What is served.
pub struct Served {
    place: RunsFolder,
    gate: Gate,
    watched: Arc<Watched>,
    followed: Mutex<Followed>,
    script: Bytes,
    style: Bytes,
    page: Bytes,
    waiting: Arc<Semaphore>,
    asking: Arc<Semaphore>,
}

impl Served {
    /// Answers requests that pass the gate, about the runs in a folder.
    pub fn new(place: RunsFolder, gate: Gate, watched: Arc<Watched>) -> Served {
        Served {
            place,
            gate,
            watched,
            followed: Mutex::default(),
            script: page::script().into(),
            style: page::style().into(),
            page: page::live().into(),
            waiting: Arc::new(Semaphore::new(MOST_QUESTIONS)),
            asking: Arc::new(Semaphore::new(1)),
        }
    }
}

/// Serves until the process ends.
pub async fn serve(listener: TcpListener, served: Arc<Served>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        // It is never closed.
        let Ok(permit) = room.clone().acquire_owned().await else {
            continue;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, or a client that was gone at once.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let served = Arc::clone(&served);
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(Arc::clone(&served), request));
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(ARRIVAL)
                .max_buf_size(LONGEST_HEAD)
                .serve_connection(TokioIo::new(Stream::new(stream)), service)
                .await;
            drop(permit);
        });
    }
}

/// The body of an answer.
pub enum Answer {
    /// All at once.
    Whole(Option<Bytes>),
    /// As things happen.
    Events(mpsc::Receiver<Bytes>),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match self.get_mut() {
            Answer::Whole(bytes) => Poll::Ready(bytes.take()),
            Answer::Events(events) => events.poll_recv(context),
        };
        data.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Answer::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64))
            }
            Answer::Events(_) => SizeHint::default(),
        }
    }
}

async fn answer(
    served: Arc<Served>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Infallible> {
    let mut response = match respond(&served, request).await {
        Ok(response) => response,
        Err((status, errors)) => json_response(status, &json!({ "errors": errors })),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    Ok(response)
}

/// A status, and what is wrong.
type Refused = (StatusCode, Value);

fn refused(status: StatusCode, why: &str) -> Refused {
    (status, json!([{ "code": null, "message": why }]))
}

fn wrong(errors: Diagnostics) -> Refused {
    (StatusCode::UNPROCESSABLE_ENTITY, messages(&errors))
}

/// What is asked of a run.
enum Asked {
    Query(String),
    Explain(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    run: String,
    axiom: Option<String>,
    formula: Option<String>,
    top: Option<usize>,
}

async fn respond(
    served: &Arc<Served>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Refused> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let query = head.uri.query().unwrap_or("");
    (served.gate.check(&head.method, path, &head.headers))
        .map_err(|(status, why)| refused(status, why))?;
    if path == "/"
        && let Some(cookie) = served.gate.cookie(query)
        && let Ok(cookie) = HeaderValue::from_str(&cookie)
    {
        // Redirects to an address without the token, so that the history does not keep it.
        let mut response = respond_with(StatusCode::SEE_OTHER, "text/plain", Bytes::new());
        response.headers_mut().insert("set-cookie", cookie);
        let here = HeaderValue::from_static("/");
        response.headers_mut().insert("location", here);
        return Ok(response);
    }
    if !served.gate.knows_token(&head.headers) {
        let why = "the token is missing: open the address that `logltn dashboard` has printed";
        return Err(refused(StatusCode::UNAUTHORIZED, why));
    }
    match (&head.method, path) {
        (&Method::POST, "/api/explain" | "/api/query") => answer_question(served, path, body).await,
        (&Method::POST, _) => Err(refused(StatusCode::NOT_FOUND, "there is no such question")),
        (_, "/") => Ok(respond_with(
            StatusCode::OK,
            "text/html; charset=utf-8",
            served.page.clone(),
        )),
        (_, "/page.js") => Ok(respond_with(
            StatusCode::OK,
            "text/javascript; charset=utf-8",
            served.script.clone(),
        )),
        (_, "/page.css") => Ok(respond_with(
            StatusCode::OK,
            "text/css; charset=utf-8",
            served.style.clone(),
        )),
        (_, "/api/events") => events(served).await,
        (_, "/api/runs") => {
            let watched = Arc::clone(&served.watched);
            let list = blocking(move || {
                watched.look();
                Ok(json!(watched.runs().list().collect::<Vec<_>>()))
            });
            Ok(json_response(StatusCode::OK, &list.await?))
        }
        (_, "/api/details" | "/api/curves" | "/api/stretch") => {
            let name = parameter(query, "run").unwrap_or_default();
            let number = |key| parameter(query, key).and_then(|text| text.parse::<u64>().ok());
            let since = number("generation").zip(number("after"));
            let stretch = number("from").zip(number("to"));
            let path = path.to_string();
            let served = Arc::clone(served);
            let found = blocking(move || {
                let folder = folder(&served, &name)?;
                let place = &served.place;
                match (&path[..], stretch) {
                    ("/api/details", _) => documents::of_run(place, &folder),
                    ("/api/curves", _) => locked(&served.followed).curves(place, &folder, since),
                    (_, Some(stretch)) => locked(&served.followed).stretch(place, &folder, stretch),
                    (_, None) => {
                        return Err(refused(StatusCode::BAD_REQUEST, "expected `from` and `to`"));
                    }
                }
                .map_err(wrong)
            });
            Ok(json_response(StatusCode::OK, &found.await?))
        }
        (_, "/api/networks") => {
            let name = parameter(query, "run").unwrap_or_default();
            ask(served, &name, |run| networks::of_run(run).map(Value::from)).await
        }
        _ => Err(refused(
            StatusCode::NOT_FOUND,
            "there is nothing at this address",
        )),
    }
}

/// The answer to a question about a run.
async fn answer_question(
    served: &Arc<Served>,
    path: &str,
    body: Incoming,
) -> Result<Response<Answer>, Refused> {
    let question = question(body).await?;
    let asked = match (path, question.formula, question.axiom) {
        ("/api/query", Some(formula), None) => Asked::Query(formula),
        ("/api/explain", None, Some(axiom)) => Asked::Explain(axiom),
        _ => {
            let why = "expected `formula` or `axiom`";
            return Err(refused(StatusCode::BAD_REQUEST, why));
        }
    };
    let top = question.top.unwrap_or(20);
    ask(served, &question.run, move |run| match asked {
        Asked::Query(formula) => run.query(&formula, top),
        Asked::Explain(axiom) => {
            let found = run.explain(Some(&axiom))?;
            Ok(json!(found))
        }
    })
    .await
}

/// The folder of a run that is in the list.
fn folder(served: &Served, name: &str) -> Result<PathBuf, Refused> {
    let known = served.watched.runs().folder(name);
    // It may be new.
    let known = known.or_else(|| {
        served.watched.look();
        served.watched.runs().folder(name)
    });
    known.ok_or_else(|| refused(StatusCode::NOT_FOUND, "there is no such run"))
}

/// Asks a run something that may take its time: one question after the other.
async fn ask(
    served: &Arc<Served>,
    name: &str,
    question: impl FnOnce(&Run<'_>) -> Result<Value, Diagnostics> + Send + 'static,
) -> Result<Response<Answer>, Refused> {
    let Ok(waiting) = Arc::clone(&served.waiting).try_acquire_owned() else {
        let why = "too many questions are waiting for an answer";
        return Err(refused(StatusCode::TOO_MANY_REQUESTS, why));
    };
    let turn = Arc::clone(&served.asking).acquire_owned().await;
    let (served, name) = (Arc::clone(served), name.to_string());
    let found = blocking(move || {
        // Holds its place until the answer is computed, even if the client has gone.
        let _turn = (waiting, turn);
        let folder = folder(&served, &name)?;
        let run = Run::load(&folder, served.place.root()).map_err(wrong)?;
        question(&run).map_err(wrong)
    });
    Ok(json_response(StatusCode::OK, &found.await?))
}

async fn question(body: Incoming) -> Result<Question, Refused> {
    let too_long = || refused(StatusCode::PAYLOAD_TOO_LARGE, "the question is too long");
    let bytes = timeout(ARRIVAL, Limited::new(body, LONGEST_BODY).collect()).await;
    let bytes = bytes
        .map_err(|_| {
            refused(
                StatusCode::REQUEST_TIMEOUT,
                "the question did not arrive in time",
            )
        })?
        .map_err(|_| too_long())?;
    serde_json::from_slice(&bytes.to_bytes())
        .map_err(|error| refused(StatusCode::BAD_REQUEST, &format!("not a question: {error}")))
}

async fn events(served: &Arc<Served>) -> Result<Response<Answer>, Refused> {
    let watched = Arc::clone(&served.watched);
    let listening = tokio::task::spawn_blocking(move || watched.listen()).await;
    let Some(events) = listening.ok().flatten() else {
        let why = "too many pages are open";
        return Err(refused(StatusCode::SERVICE_UNAVAILABLE, why));
    };
    let mut response = Response::new(Answer::Events(events));
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert("content-type", kind);
    Ok(response)
}

/// Not on the thread that serves.
async fn blocking(
    work: impl FnOnce() -> Result<Value, Refused> + Send + 'static,
) -> Result<Value, Refused> {
    let failed = |_| refused(StatusCode::INTERNAL_SERVER_ERROR, "the server failed");
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

fn json_response(status: StatusCode, document: &Value) -> Response<Answer> {
    respond_with(status, "application/json", document.to_string().into())
}

fn respond_with(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Answer> {
    let mut response = Response::new(Answer::Whole(Some(body)));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert("content-type", kind);
    response
}

/// A parameter of an address, with `%41` and `+` undone.
fn parameter(query: &str, key: &str) -> Option<String> {
    let parts = query.split('&').filter_map(|part| part.split_once('='));
    let (_, value) = parts.into_iter().find(|(name, _)| *name == key)?;
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::parameter;

    #[test]
    fn parameters() {
        let value = |query: &str| parameter(query, "run");
        assert_eq!(value("a=1&run=x%2Fy+z%C3%A9").as_deref(), Some("x/y zé"));
        for odd in ["run=%", "run=%4", "run=%zz", "run=%ff", "run", "", "runs=1"] {
            assert_eq!(value(odd), None, "{odd}");
        }
    }
}
