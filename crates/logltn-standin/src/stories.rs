//! Made-up stories of families, in the manner of CLUTRR: who is what to whom, step by step, and what the last is to the first.

use std::collections::BTreeMap;

use logltn_learn::random::Random;

/// What people can be to each other here, women and men.
const WORDS: [[&str; 2]; 10] = [
    ["wife", "husband"],
    ["mother", "father"],
    ["daughter", "son"],
    ["sister", "brother"],
    ["grandmother", "grandfather"],
    ["granddaughter", "grandson"],
    ["aunt", "uncle"],
    ["niece", "nephew"],
    ["mother-in-law", "father-in-law"],
    ["daughter-in-law", "son-in-law"],
];

/// A story.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Story {
    /// What each person is to the one before.
    pub told: Vec<String>,
    /// What the last is to the first.
    pub answer: String,
}

/// A family of four generations, with the parents of those who married into it.
///
/// ```
/// use logltn_standin::Family;
/// let family = Family::new();
/// let stories = family.stories(0, 10, 5);
/// assert!(stories.len() == 5 && stories.iter().all(|story| story.told.len() == 10));
/// assert!(family.rules().contains(&["father", "brother", "uncle"].map(String::from)));
/// ```
#[derive(Clone, Debug)]
pub struct Family {
    people: usize,
    /// What the second is to the first, if there is a word for it.
    kin: Vec<Option<&'static str>>,
    /// What the second of the first always is, where that is always the same.
    rules: BTreeMap<[&'static str; 2], &'static str>,
}

#[derive(Clone, Copy, Default)]
struct Person {
    man: bool,
    parents: Option<[usize; 2]>,
    spouse: Option<usize>,
}

/// How many children each couple of a generation has.
const CHILDREN: [usize; 3] = [3, 3, 2];

impl Default for Family {
    fn default() -> Family {
        Family::new()
    }
}

impl Family {
    /// The same family each time.
    pub fn new() -> Family {
        let mut all: Vec<Person> = Vec::new();
        let couple = |all: &mut Vec<Person>| {
            let [woman, man] = [all.len(), all.len() + 1];
            for (spouse, is_man) in [(man, false), (woman, true)] {
                all.push(Person {
                    man: is_man,
                    parents: None,
                    spouse: Some(spouse),
                });
            }
            [woman, man]
        };
        let mut couples = vec![couple(&mut all)];
        for (generation, children) in CHILDREN.into_iter().enumerate() {
            let mut next = Vec::new();
            for parents in couples {
                for child in 0..children {
                    let own = all.len();
                    all.push(Person {
                        man: child % 2 == generation % 2,
                        parents: Some(parents),
                        spouse: None,
                    });
                    if generation + 1 == CHILDREN.len() {
                        continue;
                    }
                    let in_laws = couple(&mut all);
                    all[own].spouse = Some(all.len());
                    all.push(Person {
                        man: !all[own].man,
                        parents: Some(in_laws),
                        spouse: Some(own),
                    });
                    next.push([own, all.len() - 1]);
                }
            }
            couples = next;
        }
        let people = all.len();
        let pairs = (0..people).flat_map(|a| (0..people).map(move |b| (a, b)));
        let mut family = Family {
            people,
            kin: pairs.map(|(a, b)| word(&all, a, b)).collect(),
            rules: BTreeMap::new(),
        };
        let mut found: BTreeMap<[&str; 2], Option<&str>> = BTreeMap::new();
        for a in 0..people {
            for b in (0..people).filter(|b| *b != a) {
                let Some(first) = family.kin(a, b) else {
                    continue;
                };
                for c in (0..people).filter(|c| *c != a && *c != b) {
                    let Some(second) = family.kin(b, c) else {
                        continue;
                    };
                    let is = family.kin(a, c);
                    let known = found.entry([first, second]).or_insert(is);
                    if *known != is {
                        *known = None;
                    }
                }
            }
        }
        let always = found.into_iter().filter_map(|(of, is)| Some((of, is?)));
        family.rules = always.collect();
        family
    }

    fn kin(&self, a: usize, b: usize) -> Option<&'static str> {
        self.kin[a * self.people + b]
    }

    /// What always follows: the second of my first is my third.
    pub fn rules(&self) -> Vec<[String; 3]> {
        let rules = self.rules.iter();
        rules
            .map(|([first, second], is)| [first, second, is].map(|word| word.to_string()))
            .collect()
    }

    /// All words.
    pub fn words() -> Vec<&'static str> {
        WORDS.concat()
    }

    /// Stories of this many steps, the same for the same seed. Each begins with two people; somebody else comes in
    /// between again and again, where a rule says what that makes of them. So each can be put together by rules.
    pub fn stories(&self, seed: u64, steps: usize, count: usize) -> Vec<Story> {
        let mut random = Random::new(seed, steps as u64);
        let mut stories = Vec::with_capacity(count);
        while stories.len() < count {
            let mut path = vec![random.below(self.people), random.below(self.people)];
            let (Some(answer), true) = (self.kin(path[0], path[1]), path[0] != path[1]) else {
                continue;
            };
            while path.len() <= steps {
                let at = random.below(path.len() - 1);
                let between = self.between(&path, at);
                if between.is_empty() {
                    // No one is left for this place; another story may work.
                    if (0..path.len() - 1).all(|at| self.between(&path, at).is_empty()) {
                        break;
                    }
                    continue;
                }
                path.insert(at + 1, between[random.below(between.len())]);
            }
            if path.len() == steps + 1 {
                let told = path.windows(2).filter_map(|w| self.kin(w[0], w[1]));
                stories.push(Story {
                    told: told.map(str::to_string).collect(),
                    answer: answer.to_string(),
                });
            }
        }
        stories
    }

    /// Who can be inserted after a place of a path.
    fn between(&self, path: &[usize], at: usize) -> Vec<usize> {
        let can = |new: &usize| {
            let first = self.kin(path[at], *new);
            let pair = first.zip(self.kin(*new, path[at + 1]));
            let follows = |(first, second)| self.rules.contains_key(&[first, second]);
            !path.contains(new) && pair.is_some_and(follows)
        };
        (0..self.people).filter(can).collect()
    }
}

/// What b is to a.
fn word(all: &[Person], a: usize, b: usize) -> Option<&'static str> {
    let parents = |of: usize| all[of].parents.into_iter().flatten();
    let are_siblings =
        |x: usize, y: usize| x != y && all[x].parents.is_some() && all[x].parents == all[y].parents;
    let is_parent = |of: usize, who: usize| parents(of).any(|p| p == who);
    let is_grandparent = |of: usize, who: usize| parents(of).any(|p| is_parent(p, who));
    let is_of_parents = |of: usize, who: usize| parents(of).any(|p| are_siblings(p, who));
    let is_in_law = |of: usize, who: usize| all[of].spouse.is_some_and(|s| is_parent(s, who));
    let kinds = [
        all[a].spouse == Some(b),
        is_parent(a, b),
        is_parent(b, a),
        are_siblings(a, b),
        is_grandparent(a, b),
        is_grandparent(b, a),
        is_of_parents(a, b),
        is_of_parents(b, a),
        is_in_law(a, b),
        is_in_law(b, a),
    ];
    let kind = kinds.into_iter().position(|is| is)?;
    Some(WORDS[kind][usize::from(all[b].man)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A story is put together by its rules, in some way, and by none to something else.
    #[test]
    fn stories_follow_from_the_rules() {
        let family = Family::new();
        let rules: BTreeMap<[String; 2], String> = (family.rules().into_iter())
            .map(|[first, second, is]| ([first, second], is))
            .collect();
        for steps in 1..=10 {
            for story in family.stories(7, steps, 20) {
                // By length and place: what a part can be.
                let mut parts: BTreeMap<(usize, usize), Vec<String>> = (story.told.iter())
                    .enumerate()
                    .map(|(i, word)| ((i, i + 1), vec![word.clone()]))
                    .collect();
                for length in 2..=steps {
                    for i in 0..=steps - length {
                        let mut found = Vec::new();
                        for k in i + 1..i + length {
                            for first in &parts[&(i, k)] {
                                for second in &parts[&(k, i + length)] {
                                    found.extend(
                                        rules.get(&[first.clone(), second.clone()]).cloned(),
                                    );
                                }
                            }
                        }
                        found.sort();
                        found.dedup();
                        parts.insert((i, i + length), found);
                    }
                }
                assert_eq!(
                    parts[&(0, steps)],
                    std::slice::from_ref(&story.answer),
                    "{story:?}"
                );
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_stories() {
        let family = Family::new();
        assert_eq!(family.stories(3, 4, 9), Family::new().stories(3, 4, 9));
        assert_ne!(family.stories(3, 4, 9), family.stories(4, 4, 9));
        assert!(family.stories(3, 4, 0).is_empty());
    }
}
