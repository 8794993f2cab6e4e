//! The declarations of a theory as text, one by one: what changed between two theories, regardless of their
//! individuals.

const KEYWORDS: [&str; 7] = [
    "sort",
    "table",
    "predicate",
    "function",
    "constant",
    "param",
    "axiom",
];

/// Each declaration of a text by kind and name, `axiom smooth`, with its tokens; comments and spaces do not count.
pub(super) fn declarations(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut rest = words(text);
    rest.reverse();
    while let Some(word) = rest.pop() {
        // Reserved words occur nowhere else. `define` is none: a name and a parenthesis follow where it declares.
        let defines = word == "define"
            && matches!(rest.as_slice(), [.., open, name] if open == "(" && !KEYWORDS.contains(&name.as_str()));
        match (
            defines || KEYWORDS.contains(&word.as_str()),
            found.last_mut(),
        ) {
            (true, _) => found.push(vec![word]),
            (false, Some(declaration)) => declaration.push(word),
            (false, None) => {}
        }
    }
    let named = found.into_iter().map(|words| {
        let name = words.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
        let mut said = String::new();
        for word in words.iter().skip(2) {
            let tight = said.is_empty()
                || ([",", ")", ".", ":", "]"].contains(&word.as_str()))
                || said.ends_with(['(', '['])
                || (word == "("
                    && said.ends_with(|c: char| c.is_alphanumeric() || c == '_')
                    && !["and", "or", "not", "where", "exists", "forall"]
                        .iter()
                        .any(|w| said.ends_with(w)));
            if !tight {
                said.push(' ');
            }
            said += word;
        }
        (name, said.trim_start_matches([':', ' ']).to_string())
    });
    named.collect()
}

/// Names and numbers, strings, and every other sign by itself.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text.chars().peekable();
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(c) = rest.next() {
        if c.is_whitespace() {
            continue;
        }
        if c == '#' {
            while rest.next_if(|&c| c != '\n').is_some() {}
            continue;
        }
        let mut word = String::from(c);
        if c == '"' {
            while let Some(c) = rest.next() {
                word.push(c);
                match c {
                    '\\' => word.extend(rest.next()),
                    '"' => break,
                    _ => {}
                }
            }
        } else if in_name(c) {
            while let Some(c) = rest.next_if(|&c| in_name(c)) {
                word.push(c);
            }
        } else if "-<>=!.".contains(c) {
            while let Some(c) = rest.next_if(|&c| "->=.".contains(c)) {
                word.push(c);
            }
        }
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::declarations;

    #[test]
    fn what_each_says() {
        let text = "sort A = {\"x # y\", b} # sort B\naxiom smooth (weight 2):\n  forall x: A.\n p(x)  -> (q(x) and not r(x, b))\n";
        let found = declarations(text);
        let expected = [
            ("sort A", "= { \"x # y\", b }"),
            (
                "axiom smooth",
                "(weight 2): forall x: A. p(x) -> (q(x) and not r(x, b))",
            ),
        ];
        let expected = expected.map(|(name, says)| (name.to_string(), says.to_string()));
        assert_eq!(found, expected);
        let spaced = text.replace("p(x)  ->", "p( x ) # why\n ->");
        assert_eq!(declarations(&spaced), expected);
        assert_ne!(declarations(&text.replace("r(x", "s(x")), expected);

        let defined =
            declarations("predicate define(A)\ndefine near(x: A): define(x)\naxiom a: p()");
        let names: Vec<&str> = defined.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["predicate define", "define near", "axiom a"]);
        assert_eq!(defined[1].1, "(x: A): define(x)");
    }
}
