// Where the data come from: a server, or the page itself.

/** What a server answered that it could not do. */
export class Refused extends Error {
  constructor(errors) {
    super(Array.isArray(errors) && errors[0] ? errors[0].message : String(errors));
    this.errors = errors;
  }
}

async function received(response) {
  const document_ = await response.json().catch(() => ({ errors: [{ message: `the server said ${response.status}` }] }));
  if (!response.ok || (document_ && document_.errors)) throw new Refused(document_.errors);
  return document_;
}

function address(path, parameters) {
  return `${path}?${new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined))}`;
}

async function got(path, parameters) {
  return received(await fetch(address(path, parameters)));
}

async function posted(path, question) {
  const headers = { "Content-Type": "application/json" };
  return received(await fetch(path, { method: "POST", headers, body: JSON.stringify(question) }));
}

/** A server that tells what changes. */
function live() {
  return {
    live: true,
    /** Calls `told` with all runs, then with what has changed; `connected` with whether there is a server. */
    listen(told, connected) {
      const events = new EventSource("/api/events");
      events.addEventListener("runs", (event) => { connected(true); told(JSON.parse(event.data)); });
      events.addEventListener("alive", () => connected(true));
      events.onopen = () => connected(true);
      events.onerror = () => {
        connected(false);
        // A server that refused is asked again; a connection that broke the browser mends by itself.
        if (events.readyState === EventSource.CLOSED) setTimeout(() => this.listen(told, connected), 3000);
      };
    },
    details: (run) => got("/api/details", { run }),
    curves: (run, since) => got("/api/curves", { run, generation: since?.generation, after: since?.step }),
    stretch: (run, from, to) => got("/api/stretch", { run, from, to }),
    networks: (run) => got("/api/networks", { run }),
    explain: async (run, axiom) => (await posted("/api/explain", { run, axiom }))[0],
    query: (run, formula) => posted("/api/query", { run, formula }),
  };
}

/** The data in the page. */
function inside(data) {
  const of = (part, run) => {
    const found_ = data[part]?.[run];
    if (found_ === undefined) throw new Refused([{ message: "this page does not contain that" }]);
    return found_;
  };
  return {
    live: false,
    /** The run in plain words, if the page is the report of one. */
    words: data.words ?? [],
    /** A report shows its pictures first, where it has some. */
    first: data.words?.length && Object.values(data.networks ?? {}).some((all) => all.length) ? "networks" : null,
    listen(told) { told({ all: data.runs }); },
    details: async (run) => of("details", run),
    curves: async (run) => ({ generation: 0, ...of("curves", run) }),
    stretch: async () => null,
    networks: async (run) => of("networks", run),
    explain: async (run, axiom) => {
      const told = data.explained?.[run]?.[axiom];
      if (!told) throw new Refused([{ message: "the page holds no explanation of this axiom", help: "ask with `logltn explain` or `logltn dashboard`" }]);
      return told;
    },
    query: async () => { throw new Refused([{ message: "questions need `logltn dashboard`" }]); },
  };
}

/** The source of this page. */
export function makeSource() {
  const data = document.getElementById("data");
  return data ? inside(JSON.parse(data.textContent)) : live();
}
