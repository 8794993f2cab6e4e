//! Who may ask. Any page in any browser on this machine can send requests to a loopback address; headers that browsers
//! set tell such requests from our own.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, ORIGIN};
use hyper::{Method, StatusCode};

/// The name of the cookie that holds the token.
const COOKIE_NAME: &str = "logltn";

/// What a request must have.
pub struct Gate {
    port: u16,
    host: Option<String>,
    token: Option<String>,
}

impl Gate {
    /// For a server on a port, for this machine only.
    pub fn loopback(port: u16) -> Gate {
        Gate {
            port,
            host: None,
            token: None,
        }
    }

    /// For a server under the name or address `host`, for everyone with the token.
    pub fn open_to(host: &str, port: u16, token: String) -> Gate {
        Gate {
            port,
            host: Some(host.to_string()),
            token: Some(token),
        }
    }

    /// Whether a request may be answered, apart from its token.
    ///
    /// # Errors
    /// With the status and the reason.
    pub fn check(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        // A name that someone else's server resolved to this address (DNS rebinding) is not ours.
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        if hosts.next().is_some() || !host.is_some_and(|host| self.is_ours(host)) {
            return Err((StatusCode::FORBIDDEN, "the request is for another host"));
        }
        let ours = |origin: &str| (origin.strip_prefix("http://")).is_some_and(|o| self.is_ours(o));
        let origins = headers.get_all(ORIGIN).iter();
        let foreign = |origin: &hyper::header::HeaderValue| !origin.to_str().is_ok_and(ours);
        if origins.into_iter().any(foreign) {
            return Err((StatusCode::FORBIDDEN, "the request comes from another page"));
        }
        // Browsers also send it with requests that have no origin. A link to the page itself may be
        // anywhere.
        let site = headers
            .get("sec-fetch-site")
            .and_then(|site| site.to_str().ok());
        if path != "/" && site.is_some_and(|site| !["same-origin", "none"].contains(&site)) {
            return Err((StatusCode::FORBIDDEN, "the request comes from another site"));
        }
        // A form of another page could send anything but JSON.
        let json = || {
            let kind = headers
                .get("content-type")
                .and_then(|kind| kind.to_str().ok());
            kind.is_some_and(|kind| kind.split(';').next() == Some("application/json"))
        };
        match *method {
            Method::GET | Method::HEAD => Ok(()),
            Method::POST if json() => Ok(()),
            Method::POST => Err((
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "expected application/json",
            )),
            _ => Err((StatusCode::METHOD_NOT_ALLOWED, "expected GET or POST")),
        }
    }

    /// `localhost:6060` and the like.
    fn is_ours(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            // Not inside an IPv6 address.
            Some((name, port)) if !port.ends_with(']') => match port == self.port.to_string() {
                true => name,
                false => return false,
            },
            _ if self.port == 80 => host,
            _ => return false,
        };
        let name = name.to_ascii_lowercase();
        if ["localhost", "127.0.0.1", "[::1]"].contains(&&name[..]) {
            return true;
        }
        let Some(own) = &self.host else {
            return false;
        };
        let bare = |name: &str| name.trim_matches(['[', ']']).to_ascii_lowercase();
        let everywhere = bare(own)
            .parse()
            .is_ok_and(|own: IpAddr| own.is_unspecified());
        // An address, unlike a name, cannot be given to another machine.
        bare(&name) == bare(own) || (everywhere && bare(&name).parse::<IpAddr>().is_ok())
    }

    /// Whether a request shows the token, if one is needed.
    pub fn knows_token(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let texts = |name| headers.get_all(name).iter().filter_map(|v| v.to_str().ok());
        let cookies = texts(COOKIE).flat_map(|cookies| cookies.split(';'));
        let cookies = cookies.filter_map(|cookie| cookie.trim().split_once('='));
        let cookies = cookies.filter(|(name, _)| *name == COOKIE_NAME);
        let bearers = texts(AUTHORIZATION).filter_map(|text| text.strip_prefix("Bearer "));
        (cookies.map(|(_, value)| value))
            .chain(bearers)
            .any(|shown| same(shown, token))
    }

    /// The cookie for callers that have come with the token in the address: `?token=…`.
    pub fn cookie(&self, query: &str) -> Option<String> {
        let token = self.token.as_ref()?;
        let shown = query
            .split('&')
            .find_map(|part| part.strip_prefix("token="))?;
        let cookie = || format!("{COOKIE_NAME}={token}; HttpOnly; SameSite=Strict; Path=/");
        same(shown, token).then(cookie)
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    let differences = a
        .bytes()
        .zip(b.bytes())
        .fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && differences == 0
}

/// A token that cannot be guessed.
///
/// # Errors
/// If the system has no randomness.
pub fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(gate: &Gate, method: Method, path: &str, headers: &[(&'static str, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        gate.check(&method, path, &map).is_ok()
    }

    #[test]
    fn only_our_own_names() {
        let here = Gate::loopback(6060);
        let get = |gate: &Gate, host: &str| check(gate, Method::GET, "/", &[("host", host)]);
        for host in [
            "127.0.0.1:6060",
            "localhost:6060",
            "LOCALHOST:6060",
            "[::1]:6060",
        ] {
            assert!(get(&here, host), "{host}");
        }
        for host in [
            "evil.example:6060",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost.evil.example:6060",
            "10.0.0.1:6060",
            "",
            ":6060",
            "[::1]",
        ] {
            assert!(!get(&here, host), "{host}");
        }
        assert!(!check(&here, Method::GET, "/", &[]));
        assert!(!check(
            &here,
            Method::GET,
            "/",
            &[("host", "localhost:6060"), ("host", "evil:6060")]
        ));
        let named = Gate::open_to("gpu7", 6060, "t".into());
        assert!(get(&named, "gpu7:6060") && get(&named, "localhost:6060"));
        assert!(!get(&named, "evil.example:6060") && !get(&named, "10.0.0.1:6060"));
        let open = Gate::open_to("0.0.0.0", 6060, "t".into());
        assert!(get(&open, "10.0.0.1:6060") && get(&open, "[fe80::1]:6060"));
        assert!(!get(&open, "evil.example:6060"));
    }

    #[test]
    fn only_our_own_page() {
        let gate = Gate::loopback(6060);
        let host = ("host", "localhost:6060");
        let get = |path: &str, more| check(&gate, Method::GET, path, &[host, more]);
        assert!(get("/api/runs", ("origin", "http://localhost:6060")));
        for origin in [
            "http://evil.example",
            "null",
            "https://localhost:6060",
            "http://localhost:1",
        ] {
            assert!(!get("/api/runs", ("origin", origin)), "{origin}");
        }
        assert!(!get("/api/runs", ("sec-fetch-site", "cross-site")));
        assert!(!get("/api/runs", ("sec-fetch-site", "same-site")));
        assert!(get("/api/runs", ("sec-fetch-site", "same-origin")));
        assert!(get("/", ("sec-fetch-site", "cross-site")));
        let post = |kind: &str| {
            check(
                &gate,
                Method::POST,
                "/api/query",
                &[host, ("content-type", kind)],
            )
        };
        assert!(post("application/json") && post("application/json;charset=utf-8"));
        assert!(!post("text/plain") && !post("application/x-www-form-urlencoded"));
        assert!(!check(&gate, Method::POST, "/api/query", &[host]));
        assert!(!check(&gate, Method::DELETE, "/api/runs", &[host]));
    }

    #[test]
    fn the_token_is_asked_for() {
        let token = token().unwrap();
        assert!(token.len() == 48 && token != super::token().unwrap());
        let gate = Gate::open_to("0.0.0.0", 6060, token.clone());
        let knows = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            gate.knows_token(&headers)
        };
        assert!(knows("cookie", &format!("a=b; logltn={token}")));
        assert!(knows("authorization", &format!("Bearer {token}")));
        assert!(!knows("cookie", "logltn=") && !knows("cookie", &format!("x={token}")));
        assert!(!gate.knows_token(&HeaderMap::new()));
        assert!(
            gate.cookie(&format!("token={token}"))
                .unwrap()
                .contains("HttpOnly")
        );
        assert!(gate.cookie("token=").is_none() && gate.cookie("").is_none());
        assert!(Gate::loopback(1).knows_token(&HeaderMap::new()));
    }
}
