//! Visual Sudoku: pictures of digits, read by the rules of the game.

use logltn::Diagnostics;
use logltn_learn::random::Random;
use logltn_report::{Tile, write_tiles};
use logltn_standin::mnist::{Digits, images_file};

use crate::figure::{Figure, Of};
use crate::file::File;
use crate::presentation::{Shown, Table};
use crate::sources::{Sources, too_few};
use crate::trained_example::Learnt;
use crate::{Example, Made};

pub(crate) const FOUR: Example = Example {
    name: "sudoku",
    about: "four labels and the rules of the game: 4 by 4 Sudokus in handwritten digits (MNIST)",
    theory: include_str!("../projects/sudoku.ltn"),
    manifest: include_str!("../projects/sudoku.toml"),
    data: |sources| data(sources, SUDOKU_4),
    figures: &[Figure::new(Of::Metric("digits"), None, None)],
    show: |learnt, shown| show(learnt, shown, SUDOKU_4),
};

pub(crate) const NINE: Example = Example {
    name: "sudoku-9",
    about: "one labelled Sudoku and the rules of the game: 9 by 9 Sudokus in handwritten digits (MNIST)",
    theory: include_str!("../projects/sudoku-9.ltn"),
    manifest: include_str!("../projects/sudoku-9.toml"),
    data: |sources| data(sources, SUDOKU_9),
    figures: &[Figure::new(Of::Metric("digits"), None, None)],
    show: |learnt, shown| show(learnt, shown, SUDOKU_9),
};

const SUDOKU_4: Game = Game {
    side: 2,
    games: 100,
    test: 20,
    labels: 1,
};
const SUDOKU_9: Game = Game {
    side: 3,
    games: 40,
    test: 10,
    labels: 9,
};

/// Solved Sudokus.
#[derive(Clone, Copy)]
struct Game {
    /// Of a box; a Sudoku has as many digits, rows and columns as a box has cells.
    side: usize,
    /// To learn from.
    games: usize,
    /// To test what was learnt, with pictures that training has not seen.
    test: usize,
    /// How many pictures of each digit say what they show.
    labels: usize,
}

impl Game {
    fn digits(self) -> usize {
        self.side * self.side
    }

    fn cells(self) -> usize {
        self.digits() * self.digits()
    }

    /// Whether two different cells may not hold the same digit.
    fn are_peers(self, one: usize, other: usize) -> bool {
        let place = |cell: usize| (cell / self.digits(), cell % self.digits());
        let ((row, column), (other_row, other_column)) = (place(one), place(other));
        let same_box = row / self.side == other_row / self.side
            && column / self.side == other_column / self.side;
        one != other && (row == other_row || column == other_column || same_box)
    }

    /// A random solution, row by row: a simple one, with digits, rows and columns exchanged as the rules allow.
    fn solved(self, random: &mut Random) -> Vec<usize> {
        let shuffled = |random: &mut Random, count: usize| {
            let mut order: Vec<usize> = (0..count).collect();
            random.shuffle(&mut order);
            order
        };
        // Rows stay in their band, and bands keep together.
        let lines = |random: &mut Random| -> Vec<usize> {
            let bands = shuffled(random, self.side);
            let line = |band: usize| {
                shuffled(random, self.side)
                    .into_iter()
                    .map(move |l| band * self.side + l)
                    .collect::<Vec<_>>()
            };
            bands.into_iter().flat_map(line).collect()
        };
        let (rows, columns) = (lines(random), lines(random));
        let digits = shuffled(random, self.digits());
        let simple =
            |row: usize, column: usize| self.side * (row % self.side) + row / self.side + column;
        let cell = |&row: &usize, &column: &usize| digits[simple(row, column) % self.digits()] + 1;
        rows.iter()
            .flat_map(|row| columns.iter().map(move |column| cell(row, column)))
            .collect()
    }
}

/// Pictures of digits, each to be taken once, in a random order.
struct Pictures<'d> {
    digits: &'d Digits,
    left: Vec<Vec<usize>>,
}

impl<'d> Pictures<'d> {
    fn of(digits: &'d Digits, random: &mut Random) -> Pictures<'d> {
        let mut left = vec![Vec::new(); 10];
        for (i, &digit) in digits.labels.iter().enumerate() {
            left[usize::from(digit)].push(i);
        }
        left.iter_mut().for_each(|these| random.shuffle(these));
        Pictures { digits, left }
    }

    fn take(&mut self, digit: usize) -> Result<&'d [u8], Diagnostics> {
        match self.left[digit].pop() {
            Some(i) => Ok(self.digits.image(i)),
            None => Err(too_few(&format!("pictures of {digit}")).into()),
        }
    }
}

fn data(sources: &Sources, game: Game) -> Result<Made, Diagnostics> {
    let ([train, test], folder) = sources.mnist()?;
    let mut random = Random::new(0, 5);
    let mut known = Vec::new();
    let mut images = Vec::new();
    for (digits, games) in [(&train, game.games), (&test, game.test)] {
        let mut pictures = Pictures::of(digits, &mut random);
        for _ in 0..games {
            for digit in game.solved(&mut random) {
                images.extend(pictures.take(digit)?);
                known.push(digit);
            }
        }
    }
    let cells = game.cells();
    let pairs = (0..cells).flat_map(|x| (x + 1..cells).map(move |y| (x, y)));
    let pairs: Vec<(usize, usize)> = pairs.filter(|&(x, y)| game.are_peers(x, y)).collect();
    let peers = (0..game.games).flat_map(|g| {
        pairs
            .iter()
            .map(move |(x, y)| [g * cells + x, g * cells + y])
    });
    let known = &known;
    // The first pictures of each digit: those of the first Sudoku, if there are as many as its digits.
    let first = |digit: usize| {
        let these = (0..known.len()).filter(move |&i| known[i] == digit);
        these.take(game.labels).map(move |i| [i, digit])
    };
    let labelled = (1..=game.digits()).flat_map(first);
    let tested = (game.games * cells..known.len()).map(|i| [i, known[i]]);
    Ok(Made {
        what: format!("MNIST, of {}", folder.display()),
        files: vec![
            File::csv("peers.csv", "x,y", peers),
            File::csv("labelled.csv", "x,d", labelled),
            File::csv("test.csv", "x,d", tested),
            File {
                name: "images.idx",
                bytes: images_file(train.shape, &images),
            },
        ],
    })
}

fn show(learnt: &mut Learnt, shown: &mut Shown, game: Game) -> Result<(), Diagnostics> {
    let pictures = learnt.features("Image")?;
    let said = learnt.classes("digit", pictures.len())?;
    let cells = game.cells();
    let obeys = |of: usize| {
        let read = &said[of * cells..(of + 1) * cells];
        (0..cells).all(|x| (0..x).all(|y| !game.are_peers(x, y) || read[x] != read[y]))
    };
    let tests = game.games..game.games + game.test;
    let mut table = Table::new(
        "Sudokus whose digits, as read, obey the rules",
        ["", "obey", "of"],
    );
    for (title, these) in [
        ("seen in training", 0..game.games),
        ("never seen", tests.clone()),
    ] {
        let count = these.clone().filter(|&g| obeys(g)).count();
        table.row([
            title.to_string(),
            count.to_string(),
            these.len().to_string(),
        ]);
    }
    shown.tables.push(table);
    let broken = tests.clone().find(|&g| !obeys(g));
    let drawn = broken.unwrap_or(tests.start);
    let tile = |cell: usize| Tile {
        pixels: pictures[cell].iter().map(|x| (255.0 * x) as u8).collect(),
        width: 28,
        caption: (said[cell] + 1).to_string(),
        wrong: {
            let first = drawn * cells;
            (first..first + cells).any(|other| {
                game.are_peers(cell - first, other - first) && said[cell] == said[other]
            })
        },
    };
    let tiles: Vec<Tile> = (drawn * cells..(drawn + 1) * cells).map(tile).collect();
    let path = learnt.picture("sudoku.svg")?;
    let title = match broken {
        None => "A Sudoku of the test, and what was read",
        Some(_) => "A Sudoku that was misread; what breaks the rules is coloured",
    };
    write_tiles(&tiles, game.digits(), title, &path)?;
    shown.pictures.push(path);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_obey_the_rules() {
        let mut random = Random::new(3, 0);
        for game in [SUDOKU_4, SUDOKU_9] {
            for _ in 0..5 {
                let solved = game.solved(&mut random);
                for (x, digit) in solved.iter().enumerate() {
                    assert!((1..=game.digits()).contains(digit));
                    let twice = (0..x).any(|y| game.are_peers(x, y) && solved[y] == *digit);
                    assert!(!twice, "{solved:?}");
                }
            }
        }
        let peers = (0..16).filter(|&y| SUDOKU_4.are_peers(0, y)).count();
        assert_eq!(peers, 7);
    }
}
