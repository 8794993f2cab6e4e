//! The theories of N-digit addition, and the rows of their tables.

use std::fmt::Write as _;

use super::super::mnist::Digits;

/// The theory of adding two numbers of this many digits, given as images, of which only the sum is known. Carries
/// are variables, so that each equation is about one column of digits. Digit 0 is the least significant one.
///
/// ```
/// use logltn_paper::addition_theory;
/// assert_eq!(
///     addition_theory(2),
///     "\
/// ## Two numbers of 2 digits each, as images; of their sum the digits s2 s1 s0 are known.
/// sort Image
/// sort Digit = 0..9
/// sort Carry = 0..1
/// table sums(x1: Image, x0: Image, y1: Image, y0: Image, s2: Int, s1: Int, s0: Int)
///
/// predicate digit(Image, Digit)
///
/// axiom addition:
///     forall (x1, x0, y1, y0, s2, s1, s0) in sums.
///     exists a1, a0, b1, b0: Digit, c2, c1: Carry
///         where a0 + b0 = s0 + 10*c1 and
///             a1 + b1 + c1 = s1 + 10*c2 and
///             c2 = s2.
///         digit(x1, a1) and digit(x0, a0) and digit(y1, b1) and digit(y0, b0)
/// "
/// );
/// ```
pub fn addition_theory(digits: usize) -> String {
    let mut equations = "a0 + b0 = s0 + 10*c1".to_string();
    for i in 1..digits {
        let next = i + 1;
        let _ = write!(
            equations,
            " and\n            a{i} + b{i} + c{i} = s{i} + 10*c{next}"
        );
    }
    let [x, y, a, b] = ["x", "y", "a", "b"].map(|name| names(name, 0..digits));
    let carries = names("c", 1..digits + 1).join(", ");
    let sum = names("s", 0..digits + 1);
    let images = [x.as_slice(), y.as_slice()].concat();
    let columns = columns(&[(&images, "Image"), (&sum, "Int")]);
    let row = [images.as_slice(), sum.as_slice()].concat().join(", ");
    let found = [a.as_slice(), b.as_slice()].concat();
    format!(
        "# Two numbers of {digits} digits each, as images; of their sum the digits {} are known.\n\
         sort Image\nsort Digit = 0..9\nsort Carry = 0..1\ntable sums({columns})\n\n\
         predicate digit(Image, Digit)\n\n\
         axiom addition:\n    forall ({row}) in sums.\n    exists {}: Digit, {carries}: Carry\n        \
         where {equations} and\n            c{digits} = s{digits}.\n        {}\n",
        sum.join(" "),
        found.join(", "),
        literals(&images, &found),
    )
}

/// The same with all digits known: what the sum alone can teach at best.
pub(super) fn labelled_theory(digits: usize) -> String {
    let [x, y, a, b] = ["x", "y", "a", "b"].map(|name| names(name, 0..digits));
    let (images, known) = ([x, y].concat(), [a, b].concat());
    let columns = columns(&[(&images, "Image"), (&known, "Digit")]);
    let row = [images.as_slice(), known.as_slice()].concat().join(", ");
    format!(
        "# Two numbers of {digits} digits each, as images, with all digits known.\n\
         sort Image\nsort Digit = 0..9\ntable labelled({columns})\n\n\
         predicate digit(Image, Digit)\n\n\
         axiom labels:\n    forall ({row}) in labelled.\n        {}\n",
        literals(&images, &known),
    )
}

/// The most significant first, as numbers are written.
fn names(name: &str, which: std::ops::Range<usize>) -> Vec<String> {
    which.rev().map(|i| format!("{name}{i}")).collect()
}

fn columns(groups: &[(&[String], &str)]) -> String {
    let columns: Vec<String> = (groups.iter())
        .flat_map(|(names, sort)| names.iter().map(move |name| format!("{name}: {sort}")))
        .collect();
    columns.join(", ")
}

fn literals(images: &[String], digits: &[String]) -> String {
    let literals: Vec<String> = (images.iter().zip(digits))
        .map(|(image, digit)| format!("digit({image}, {digit})"))
        .collect();
    literals.join(" and ")
}

/// The digits of row i of `count` rows: operand k, of both numbers the most significant first, is image
/// `k * count + i`.
pub(super) fn operands(all: &[usize], digits: usize, count: usize, row: usize) -> Vec<usize> {
    (0..2 * digits).map(|k| all[k * count + row]).collect()
}

/// The decimal digits of the sum of two numbers, whose digits are given consecutively, the most significant first.
pub(super) fn sum_of(operands: &[usize]) -> Vec<usize> {
    let (x, y) = operands.split_at(operands.len() / 2);
    let mut carry = 0;
    let mut sum = Vec::with_capacity(x.len() + 1);
    for (a, b) in x.iter().zip(y).rev() {
        let column = a + b + carry;
        sum.push(column % 10);
        carry = column / 10;
    }
    sum.push(carry);
    sum.reverse();
    sum
}

/// The tables of sums and of labels as CSV.
pub(super) fn rows(train: &Digits, digits: usize, count: usize) -> [String; 2] {
    let [x, y, a, b] = ["x", "y", "a", "b"].map(|name| names(name, 0..digits));
    let images = [x, y].concat().join(",");
    let mut sums = format!("{images},{}\n", names("s", 0..digits + 1).join(","));
    let mut labels = format!("{images},{}\n", [a, b].concat().join(","));
    let all: Vec<usize> = train.labels.iter().map(|&l| usize::from(l)).collect();
    let list = |numbers: &[usize]| {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        numbers.join(",")
    };
    for row in 0..count {
        let images: Vec<usize> = (0..2 * digits).map(|k| k * count + row).collect();
        let known = operands(&all, digits, count, row);
        let images = list(&images);
        let _ = writeln!(sums, "{images},{}", list(&sum_of(&known)));
        let _ = writeln!(labels, "{images},{}", list(&known));
    }
    [sums, labels]
}

#[cfg(test)]
mod tests {
    use logltn::{Source, Theory};

    use super::*;

    #[test]
    fn theories_of_any_number_of_digits() {
        for digits in [1, 2, 15, 40] {
            for text in [addition_theory(digits), labelled_theory(digits)] {
                let theory = Theory::parse(Source::new("addition.ltn", text.clone()));
                assert!(theory.is_ok(), "{text}");
            }
        }
        assert!(
            addition_theory(1).contains("where a0 + b0 = s0 + 10*c1 and\n            c1 = s1.")
        );
    }

    #[test]
    fn sums_are_those_of_school() {
        assert_eq!(sum_of(&[9, 9, 0, 1]), [1, 0, 0]);
        assert_eq!(sum_of(&[1, 2, 3, 4, 5, 6]), [0, 5, 7, 9]);
        assert_eq!(sum_of(&[9, 9]), [1, 8]);
        // More digits than an integer of 64 bits has.
        let nines = sum_of(&[9; 60]);
        assert_eq!((nines[0], nines[30]), (1, 8));
        assert!(nines[1..30].iter().all(|&d| d == 9));
    }

    #[test]
    fn operands_take_their_own_stretch_of_the_images() {
        let train = Digits {
            images: Vec::new(),
            labels: vec![1, 2, 3, 4, 5, 6, 7, 8],
            shape: [28, 28],
        };
        // Rows: 13 + 57 and 24 + 68.
        let [sums, labels] = rows(&train, 2, 2);
        assert_eq!(sums, "x1,x0,y1,y0,s2,s1,s0\n0,2,4,6,0,7,0\n1,3,5,7,0,9,2\n");
        assert_eq!(
            labels,
            "x1,x0,y1,y0,a1,a0,b1,b0\n0,2,4,6,1,3,5,7\n1,3,5,7,2,4,6,8\n"
        );
    }
}
