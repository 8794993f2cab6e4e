//! The types of Semantic PASCAL-Part, and which are parts of which (the paper's table of ontologies, in its appendix).

/// The types in the order of the dataset's list of classes: a type's number is its place here, `background` is 0.
#[rustfmt::skip] // ten to a line, so that places can be counted
pub const TYPES: [&str; 60] = [
    "background", "handlebar", "tvmonitor", "ebrow", "horn", "sofa", "mirror", "coach", "sheep", "train",
    "horse", "torso", "animal_wing", "hand", "headlight", "foot", "leg", "cow", "body", "bodywork",
    "bus", "hoof", "engine", "person", "bottle", "locomotive", "tail", "chair", "screen", "wheel",
    "boat", "nose", "pottedplant", "motorbike", "arm", "bird", "pot", "cat", "diningtable", "ear",
    "neck", "car", "plant", "cap", "beak", "door", "artifact_wing", "bicycle", "license_plate", "hair",
    "window", "chain_wheel", "head", "dog", "aeroplane", "stern", "mouth", "eye", "saddle", "muzzle",
];

/// What kind of thing a whole is. Things of one kind look more alike than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Animals, people among them.
    Animal,
    /// Things that carry people.
    Vehicle,
    /// Things found in a room.
    Indoor,
}

/// A type of whole, its kind, and the types of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole {
    /// The name of the type.
    pub name: &'static str,
    /// What kind of thing it is.
    pub kind: Kind,
    /// The names of the types of its parts; none for a boat, say.
    pub parts: &'static [&'static str],
}

/// The ontology, in the order of the paper's table.
#[rustfmt::skip] // a table reads better in rows
pub const ONTOLOGY: [Whole; 20] = [
    Whole { name: "aeroplane", kind: Kind::Vehicle, parts: &["artifact_wing", "body", "engine", "stern", "wheel"] },
    Whole { name: "bicycle", kind: Kind::Vehicle, parts: &["chain_wheel", "handlebar", "headlight", "saddle", "wheel"] },
    Whole { name: "bird", kind: Kind::Animal, parts: &["animal_wing", "beak", "tail", "eye", "head", "leg", "neck", "torso"] },
    Whole { name: "bottle", kind: Kind::Indoor, parts: &["body", "cap"] },
    Whole { name: "bus", kind: Kind::Vehicle, parts: &["bodywork", "door", "headlight", "license_plate", "mirror", "wheel", "window"] },
    Whole { name: "car", kind: Kind::Vehicle, parts: &["bodywork", "door", "headlight", "license_plate", "mirror", "wheel", "window"] },
    Whole { name: "cat", kind: Kind::Animal, parts: &["ear", "tail", "eye", "head", "leg", "neck", "torso"] },
    Whole { name: "cow", kind: Kind::Animal, parts: &["ear", "horn", "muzzle", "tail", "eye", "head", "leg", "neck", "torso"] },
    Whole { name: "dog", kind: Kind::Animal, parts: &["ear", "muzzle", "nose", "tail", "eye", "head", "leg", "neck", "torso"] },
    Whole { name: "horse", kind: Kind::Animal, parts: &["ear", "hoof", "muzzle", "tail", "eye", "head", "leg", "neck", "torso"] },
    Whole { name: "motorbike", kind: Kind::Vehicle, parts: &["handlebar", "headlight", "saddle", "wheel"] },
    Whole { name: "person", kind: Kind::Animal, parts: &["arm", "ear", "ebrow", "foot", "hair", "hand", "mouth", "nose", "eye", "head", "leg", "neck", "torso"] },
    Whole { name: "pottedplant", kind: Kind::Indoor, parts: &["plant", "pot"] },
    Whole { name: "sheep", kind: Kind::Animal, parts: &["ear", "horn", "muzzle", "tail", "eye", "head", "leg", "neck", "torso"] },
    Whole { name: "train", kind: Kind::Vehicle, parts: &["coach", "headlight", "locomotive"] },
    Whole { name: "tvmonitor", kind: Kind::Indoor, parts: &["screen"] },
    Whole { name: "boat", kind: Kind::Vehicle, parts: &[] },
    Whole { name: "chair", kind: Kind::Indoor, parts: &[] },
    Whole { name: "sofa", kind: Kind::Indoor, parts: &[] },
    Whole { name: "diningtable", kind: Kind::Indoor, parts: &[] },
];

/// The number of a type, if there is one of that name.
///
/// ```
/// use logltn_standin::ontology::type_id;
/// assert_eq!(type_id("background"), Some(0));
/// assert_eq!(type_id("unicorn"), None);
/// ```
pub fn type_id(name: &str) -> Option<usize> {
    TYPES.iter().position(|known| *known == name)
}

/// Whether a type, by number, can be part of another.
///
/// ```
/// use logltn_standin::ontology::{is_part, type_id};
/// let (cap, bottle) = (type_id("cap").unwrap(), type_id("bottle").unwrap());
/// assert!(is_part(cap, bottle));
/// assert!(!is_part(bottle, cap));
/// ```
pub fn is_part(part: usize, whole: usize) -> bool {
    pairs().any(|pair| pair == (whole, part))
}

/// All pairs (whole, part) of type numbers, in the order of the table.
pub fn pairs() -> impl Iterator<Item = (usize, usize)> {
    ONTOLOGY.iter().flat_map(|whole| {
        whole.parts.iter().map(move |part| {
            let known = "every name of the ontology is a type (tested)";
            (
                type_id(whole.name).expect(known),
                type_id(part).expect(known),
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_type_is_background_a_whole_or_a_part_and_never_both() {
        let wholes: BTreeSet<&str> = ONTOLOGY.iter().map(|whole| whole.name).collect();
        let parts: BTreeSet<&str> = ONTOLOGY
            .iter()
            .flat_map(|whole| whole.parts)
            .copied()
            .collect();
        assert!(wholes.is_disjoint(&parts));
        let mut all: BTreeSet<&str> = wholes.union(&parts).copied().collect();
        all.insert("background");
        assert_eq!(all, TYPES.into_iter().collect());
        assert_eq!(all.len(), 60, "a name occurs twice");
        assert_eq!(pairs().count(), 100);
    }

    /// The paper counts 60 constraints: five without a family, one per whole that has parts, one per part.
    #[test]
    fn the_families_have_the_papers_number_of_members() {
        let wholes: BTreeSet<usize> = pairs().map(|(whole, _)| whole).collect();
        let parts: BTreeSet<usize> = pairs().map(|(_, part)| part).collect();
        assert_eq!((wholes.len(), parts.len()), (16, 39));
        assert_eq!(5 + wholes.len() + parts.len(), 60);
    }
}
