//! Stories of families: rules of three arguments that are learnt, put together by a definition that uses itself.

use std::collections::{BTreeMap, BTreeSet};

use logltn::{Diagnostics, Parameters};
use logltn_learn::{Session, largest};
use logltn_standin::{Family, Story};

use crate::file::File;
use crate::presentation::{Shown, Table, degree};
use crate::sources::Sources;
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const EXAMPLE: Example = Example {
    name: "stories",
    about: "kinship: rules learnt from stories of two and three steps answer stories of ten (a recursive definition)",
    theory: THEORY,
    manifest: include_str!("../projects/stories.toml"),
    data,
    figures: &[],
    show,
};

/// The theory of stories.
pub const THEORY: &str = include_str!("../projects/stories.ltn");

/// Stories to learn from, of each of these lengths.
const LEARNT: [(usize, usize); 2] = [(2, 400), (3, 400)];
/// Stories to answer, of each of these lengths.
const ASKED: [(usize, usize); 9] = [
    (2, 30),
    (3, 30),
    (4, 30),
    (5, 30),
    (6, 30),
    (7, 30),
    (8, 30),
    (9, 30),
    (10, 30),
];

/// Stories to learn from and to answer, as the data of [`THEORY`]. Stories with the same steps are one.
#[derive(Clone, Debug)]
pub struct Stories<'a> {
    words: &'a [&'a str],
    learnt: &'a [Story],
    asked: &'a [Story],
    /// What is told, each once: the individuals of the sort.
    told: Vec<&'a [String]>,
}

impl<'a> Stories<'a> {
    /// Of these words.
    pub fn new(words: &'a [&'a str], learnt: &'a [Story], asked: &'a [Story]) -> Stories<'a> {
        let both = learnt.iter().chain(asked);
        let told: BTreeSet<&[String]> = both.map(|story| &story.told[..]).collect();
        Stories {
            words,
            learnt,
            asked,
            told: told.into_iter().collect(),
        }
    }

    fn number(&self, story: &Story) -> usize {
        self.told.partition_point(|told| *told < &story.told[..])
    }

    /// Words, stories, their facts, the answers of the training stories, and all words of those to be answered.
    pub fn files(&self) -> Vec<File> {
        let mut spans: Vec<[String; 4]> = Vec::new();
        for (number, told) in self.told.iter().enumerate() {
            for i in 0..told.len() {
                for j in i + 1..=told.len() {
                    let span = |word: &str| {
                        [
                            format!("s{number}"),
                            i.to_string(),
                            j.to_string(),
                            word.to_string(),
                        ]
                    };
                    match j == i + 1 {
                        true => spans.push(span(&told[i])),
                        false => spans.extend(self.words.iter().map(|word| span(word))),
                    }
                }
            }
        }
        let whole = |story: &Story, word: &str| {
            let steps = story.told.len().to_string();
            [
                format!("s{}", self.number(story)),
                "0".to_string(),
                steps,
                word.to_string(),
            ]
        };
        let answers = self.learnt.iter().map(|story| whole(story, &story.answer));
        let asked = self.asked.iter();
        let asked = asked.flat_map(|story| self.words.iter().map(move |word| whole(story, word)));
        let names = (0..self.told.len()).map(|number| format!("s{number}\n"));
        let header = "s,i,j,r";
        vec![
            File {
                name: "kin.txt",
                bytes: (self.words.join("\n") + "\n").into_bytes(),
            },
            File {
                name: "stories.txt",
                bytes: names.collect::<String>().into_bytes(),
            },
            File::csv("answers.csv", header, answers),
            File::csv("asked.csv", header, asked),
            File::csv("spans.csv", header, spans),
        ]
    }

    /// What is answered to each story that is asked: the place of the truest word.
    ///
    /// # Errors
    /// If the session is not one of these stories.
    pub fn answers(
        &self,
        session: &mut Session,
        parameters: &Parameters,
    ) -> Result<Vec<usize>, Diagnostics> {
        let mut tuples: Vec<u32> = Vec::with_capacity(4 * self.asked.len() * self.words.len());
        for story in self.asked {
            let (number, steps) = (self.number(story) as u32, story.told.len() as u32);
            let words = 0..self.words.len() as u32;
            tuples.extend(words.flat_map(|word| [number, 0, steps, word]));
        }
        let truths = session.truths_of("kin", Some(&tuples), parameters)?;
        let each = truths.chunks_exact(self.words.len().max(1));
        Ok(each.map(largest).collect())
    }
}

fn all(family: &Family, lengths: &[(usize, usize)], seed: u64) -> Vec<Story> {
    let each = lengths.iter();
    each.flat_map(|(steps, count)| family.stories(seed, *steps, *count))
        .collect()
}

fn asked(family: &Family) -> Vec<Story> {
    all(family, &ASKED, 2)
}

fn data(_: &Sources) -> Result<Made, Diagnostics> {
    let family = Family::new();
    let learnt = all(&family, &LEARNT, 1);
    Ok(Made {
        what: format!("{} made-up stories of two and three steps", learnt.len()),
        files: Stories::new(&Family::words(), &learnt, &asked(&family)).files(),
    })
}

/// How a part of a story is put together in the surest way: the place between, and what its two parts are.
#[derive(Clone, Copy)]
struct Step {
    confidence: f64,
    /// None of what is told.
    parts: Option<(usize, usize, usize)>,
}

/// The surest way to put each part of a story together to each word, by learnt rules.
fn surest(
    told: &[usize],
    words: usize,
    rule: &dyn Fn(usize, usize, usize) -> f64,
) -> BTreeMap<(usize, usize, usize), Step> {
    let mut found: BTreeMap<(usize, usize, usize), Step> = BTreeMap::new();
    for (i, word) in told.iter().enumerate() {
        let step = Step {
            confidence: 1.0,
            parts: None,
        };
        found.insert((i, i + 1, *word), step);
    }
    for length in 2..=told.len() {
        for i in 0..=told.len() - length {
            let j = i + length;
            for k in i + 1..j {
                for p in 0..words {
                    for q in 0..words {
                        let (Some(first), Some(second)) =
                            (found.get(&(i, k, p)), found.get(&(k, j, q)))
                        else {
                            continue;
                        };
                        let both = first.confidence * second.confidence;
                        for r in 0..words {
                            let confidence = both * rule(p, q, r);
                            let best = found
                                .get(&(i, j, r))
                                .map_or(0.0, |step: &Step| step.confidence);
                            if confidence > best {
                                let parts = Some((k, p, q));
                                found.insert((i, j, r), Step { confidence, parts });
                            }
                        }
                    }
                }
            }
        }
    }
    found
}

fn show(learnt: &mut Learnt, shown: &mut Shown) -> Result<(), Diagnostics> {
    let family = Family::new();
    let words = Family::words();
    let place = |word: &str| words.iter().position(|w| *w == word).unwrap_or(0);
    let count = words.len();
    let pairs: Vec<u32> = (0..count * count)
        .flat_map(|pair| [(pair / count) as u32, (pair % count) as u32])
        .collect();
    let truths = learnt.truths("rule", &pairs)?;
    let rule = |p: usize, q: usize, r: usize| truths[(p * count + q) * count + r];

    // Nothing was stated about other pairs: their values are what training left there.
    let from = all(&family, &LEARNT, 1);
    let told: BTreeSet<(usize, usize)> = (from.iter())
        .filter_map(|story| match &story.told[..] {
            [first, second] => Some((place(first), place(second))),
            _ => None,
        })
        .collect();
    let truth: BTreeSet<[usize; 3]> = (family.rules().iter())
        .map(|rule| [0, 1, 2].map(|i| place(&rule[i])))
        .collect();
    let mut rules: Vec<([usize; 3], f64)> = (0..count * count)
        .map(|pair| {
            let (p, q) = (pair / count, pair % count);
            let r = largest(&truths[pair * count..(pair + 1) * count]);
            ([p, q, r], rule(p, q, r))
        })
        .filter(|([p, q, _], confidence)| told.contains(&(*p, *q)) && *confidence > 0.5)
        .collect();
    rules.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    shown.tables.push(rules_table(&rules, &truth, &words));

    let asked = asked(&family);
    let stories = Stories::new(&words, &from, &asked);
    // The surest ways count more than in training: of a long story there are very many that are not sure.
    let said = learnt.ask(|session, last| {
        let parameters = Parameters {
            alpha: 2.0,
            ..*last
        };
        stories.answers(session, &parameters)
    })?;

    let mut table = Table::new(
        "stories answered correctly, by number of steps; trained on two and three",
        ["steps", "right"],
    );
    for (steps, stories) in ASKED {
        let own = asked
            .iter()
            .zip(&said)
            .filter(|(story, _)| story.told.len() == steps);
        let right = own
            .filter(|(story, said)| story.answer == words[**said])
            .count();
        table.row([steps.to_string(), format!("{right} of {stories}")]);
    }
    shown.tables.push(table);

    let last = asked.iter().zip(&said).next_back();
    shown.tables.extend(last.map(|(story, answer)| {
        let told: Vec<usize> = story.told.iter().map(|word| place(word)).collect();
        let ways = surest(&told, count, &rule);
        steps_table(story, *answer, &ways, &words, &rule)
    }));
    Ok(())
}

/// The surest rules.
fn rules_table(rules: &[([usize; 3], f64)], truth: &BTreeSet<[usize; 3]>, words: &[&str]) -> Table {
    let right = rules
        .iter()
        .filter(|(rule, _)| truth.contains(rule))
        .count();
    let mut table = Table::new(
        format!(
            "{} rules learnt from pairs in stories of two steps, {right} of the family's {} among them; the surest 20",
            rules.len(),
            truth.len()
        ),
        ["my", "has a", "who is my", "confidence", "always so"],
    );
    for (rule, confidence) in rules.iter().take(20) {
        let [first, second, is] = rule.map(|word| words[word].to_string());
        let always = if truth.contains(rule) { "yes" } else { "no" };
        table.row([first, second, is, degree(*confidence), always.to_string()]);
    }
    table
}

/// How a story is put together, each step after those that it needs.
fn steps_table(
    story: &Story,
    answer: usize,
    ways: &BTreeMap<(usize, usize, usize), Step>,
    words: &[&str],
    rule: &impl Fn(usize, usize, usize) -> f64,
) -> Table {
    let mut table = Table::new(
        format!(
            "a story of ten steps, step by step: my {} is my {}",
            story.told.join("'s "),
            words[answer]
        ),
        [
            "of the people",
            "my",
            "has a",
            "who is my",
            "confidence of the rule",
        ],
    );
    let mut left = vec![(0, story.told.len(), answer)];
    let mut steps = Vec::new();
    while let Some((i, j, r)) = left.pop() {
        if let Some((k, p, q)) = ways.get(&(i, j, r)).and_then(|step| step.parts) {
            steps.push((i, j, p, q, r));
            left.extend([(i, k, p), (k, j, q)]);
        }
    }
    // What a step needs has come before it.
    steps.sort_by_key(|(i, j, ..)| (j - i, *i));
    for (i, j, p, q, r) in steps {
        table.row([
            format!("{i} to {j}"),
            words[p].to_string(),
            words[q].to_string(),
            words[r].to_string(),
            degree(rule(p, q, r)),
        ]);
    }
    table
}
