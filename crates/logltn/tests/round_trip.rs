//! What the printer prints parses back to the same theory.

use logltn::{Source, Theory};

fn parse(text: &str) -> Theory {
    match Theory::parse(Source::new("theory.ltn", text)) {
        Ok(theory) => theory,
        Err(errors) => panic!("{errors}\nin\n{text}"),
    }
}

fn assert_round_trip(text: &str) {
    let theory = parse(text);
    let printed = theory.to_string();
    let again = parse(&printed);
    assert!(theory.same_as(&again), "{text}\nprinted as\n{printed}");
}

#[test]
fn every_construct() {
    assert_round_trip(
        "sort Point
         sort N = -3..3
         sort Colour = {red, green}
         param near
         constant origin: Point
         constant one: N
         table edges(from: Point, to: Point, weight: Real, n: Int, c: Colour)
         function f(Point, N): Point
         function g(Point): Real[4]
         function h(): Real
         predicate P(Point, N)
         predicate Q(Real[4], Real)
         predicate rains()
         axiom any (weight 0.25): P(origin, -3) and (rains() and not not rains()) -> (rains() -> rains())
         axiom all for c, d: N where c < d and not (c = 2 or exists e: N. e + c = d): exists x: Point. P(f(x, c), d)
         axiom big: all n: N where n % 2 = 0. any m: N where -(n) < m - (1 - 2)*3 / 4. rains() <-> P(origin, m)
         axiom rows: forall (a, b, w, n, c) in edges where w < near and dist(a, b) <= 2.5e-3 and c != red
             and edges(a, b, w*2, abs(min(n, 3, max(1, -n))), green) and a != origin and one < 2.
             Q(g(a), h()) or (exists z: Point where (exists (p, q, r, s, t) in edges where s = n. p = z). P(z, 1))
         axiom iff: (rains() <-> rains()) <-> rains()",
    );
}
