//! The boxes of PASCAL-Part: read from CSV, or made up.

use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics, did_you_mean};
use logltn_data::{CsvFile, read_unpacked};
use rustc_hash::FxHashMap;

use crate::standin::ontology::{TYPES, type_id};
use crate::standin::{SceneBox, pascal_part_scenes};

/// The two files of annotations.
pub(super) const FILES: [&str; 2] = ["trainval_boxes.csv.gz", "test_boxes.csv.gz"];
/// How many pictures the dataset has for training and for testing.
const PICTURES: [usize; 2] = [7_687, 2_416];
/// Made-up scenes come from this seed; the test scenes from the next.
const SEED: u64 = 0;

/// Boxes, picture after picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Annotations {
    pub train: Vec<SceneBox>,
    pub test: Vec<SceneBox>,
}

impl Annotations {
    /// Reads the real ones.
    pub fn read(folder: &Path) -> Result<Annotations, Diagnostics> {
        let [train, test] = FILES.map(|name| read_boxes(&folder.join(name)));
        match (train, test) {
            (Ok(train), Ok(test)) => Ok(Annotations { train, test }),
            (train, test) => {
                let mut errors = Diagnostics::new();
                for error in [train.err(), test.err()].into_iter().flatten() {
                    errors.extend(error);
                }
                Err(errors)
            }
        }
    }

    /// Makes up as many pictures as the dataset has, or as few as are wanted.
    pub fn made_up(pictures: Option<usize>) -> Annotations {
        let [train, test] = sizes(pictures);
        Annotations {
            train: pascal_part_scenes(SEED, train.min(PICTURES[0])).boxes,
            test: pascal_part_scenes(SEED + 1, test.min(PICTURES[1])).boxes,
        }
    }

    /// Keeps the first pictures only.
    pub fn keep(&mut self, pictures: usize) {
        let [train, test] = sizes(Some(pictures));
        for (boxes, most) in [(&mut self.train, train), (&mut self.test, test)] {
            boxes.retain(|b| b.picture < most);
        }
    }
}

/// There are about three pictures for training to one for testing.
fn sizes(pictures: Option<usize>) -> [usize; 2] {
    match pictures {
        None => PICTURES,
        Some(train) => [train, train.div_ceil(3)],
    }
}

/// A box as a file has it.
pub(super) struct Raw {
    pub id: i64,
    pub picture: i64,
    pub type_id: usize,
    /// xmin, ymin, xmax, ymax.
    pub edges: [u32; 4],
    pub part_of: i64,
    pub size: [u32; 2],
}

/// Numbers pictures and boxes by their order. A whole that is not among the boxes does not count.
///
/// # Errors
/// If a number is used twice, or a whole is in another picture than its part.
pub(super) fn numbered(file: &str, raw: &[Raw]) -> Result<Vec<SceneBox>, Diagnostics> {
    let mut places: FxHashMap<i64, usize> = FxHashMap::default();
    let mut pictures: FxHashMap<i64, usize> = FxHashMap::default();
    let mut errors = Diagnostics::new();
    for (place, b) in raw.iter().enumerate() {
        let next = pictures.len();
        pictures.entry(b.picture).or_insert(next);
        if places.insert(b.id, place).is_some() && errors.error_count() < 10 {
            errors.push(Diagnostic::error(
                Code::DuplicateName,
                format!("{file}: there is more than one box {}", b.id),
            ));
        }
    }
    let mut boxes = Vec::with_capacity(raw.len());
    for b in raw {
        let whole = places.get(&b.part_of).copied();
        if let Some(whole) = whole
            && raw[whole].picture != b.picture
            && errors.error_count() < 10
        {
            errors.push(Diagnostic::error(
                Code::FileDamaged,
                format!(
                    "{file}: box {} of picture {} is part of box {}, which is in picture {}",
                    b.id, b.picture, b.part_of, raw[whole].picture
                ),
            ));
        }
        let [xmin, ymin, xmax, ymax] = b.edges;
        boxes.push(SceneBox {
            picture: pictures.get(&b.picture).copied().unwrap_or(0),
            type_id: b.type_id,
            xmin,
            ymin,
            xmax,
            ymax,
            part_of: whole,
            img_w: b.size[0],
            img_h: b.size[1],
        });
    }
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(boxes),
    }
}

/// The number of a type.
pub(super) fn type_named(name: &str) -> Result<usize, Diagnostic> {
    type_id(name).ok_or_else(|| {
        Diagnostic::error(
            Code::UnknownIndividual,
            format!("there is no type `{name}`"),
        )
        .maybe_help(did_you_mean(name, TYPES))
    })
}

fn read_boxes(path: &Path) -> Result<Vec<SceneBox>, Diagnostics> {
    let name = path.display().to_string();
    let file = CsvFile::parse(&read_unpacked(path)?, &name)?;
    let ints =
        |column: &str| -> Result<Vec<i64>, Diagnostics> { file.ints(file.column_index(column)?) };
    let type_column = file.column_index("type")?;
    let [ids, pictures, wholes] = [ints("box_id")?, ints("pic")?, ints("partof")?];
    let mut edges = Vec::new();
    for column in ["xmin", "ymin", "xmax", "ymax", "img_w", "img_h"] {
        edges.push((file.column_index(column)?, ints(column)?));
    }
    let mut errors = Diagnostics::new();
    let mut raw = Vec::with_capacity(ids.len());
    for row in 0..ids.len() {
        let found = type_named(file.cell(row, type_column));
        let type_id = found.unwrap_or_else(|error| {
            if errors.error_count() < 10 {
                errors.push(error.note(file.place(row, type_column)));
            }
            0
        });
        let mut pixels = [0; 6];
        for (pixel, (column, values)) in pixels.iter_mut().zip(&edges) {
            *pixel = u32::try_from(values[row]).unwrap_or_else(|_| {
                if errors.error_count() < 10 {
                    let message = format!(
                        "{}: {} is not a pixel",
                        file.place(row, *column),
                        values[row]
                    );
                    errors.push(Diagnostic::error(Code::ValueOutOfRange, message));
                }
                0
            });
        }
        let [xmin, ymin, xmax, ymax, width, height] = pixels;
        raw.push(Raw {
            id: ids[row],
            picture: pictures[row],
            type_id,
            edges: [xmin, ymin, xmax, ymax],
            part_of: wholes[row],
            size: [width, height],
        });
    }
    match errors.has_errors() {
        true => Err(errors),
        false => {
            // Those of one picture have to lie together.
            raw.sort_by_key(|b: &Raw| (b.picture, b.id));
            numbered(&name, &raw)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const HEADER: &str = "box_id,pic,type,type_id,xmin,ymin,xmax,ymax,partof,img_w,img_h\n";

    fn read(rows: &str) -> Result<Vec<SceneBox>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("boxes.csv.gz");
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        (packed.write_all((HEADER.to_string() + rows).as_bytes())).expect("written");
        std::fs::write(&path, packed.finish().expect("packed")).expect("written");
        read_boxes(&path).map_err(|errors| errors.to_string())
    }

    #[test]
    fn boxes_are_numbered_by_their_order() {
        let boxes = read(
            "7,40,bottle,24,1,2,100,200,-1,500,333\n8,40,cap,43,10,2,30,20,7,500,333\n9,41,dog,53,0,0,9,9,99,500,375\n",
        );
        let boxes = boxes.expect("three boxes");
        assert_eq!(boxes[1].part_of, Some(0));
        assert_eq!((boxes[1].picture, boxes[2].picture), (0, 1));
        assert_eq!(TYPES[boxes[1].type_id], "cap");
        assert_eq!(boxes[2].part_of, None, "box 99 is not there");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let error = read("0,1,botle,24,1,2,100,200,-1,500,333\n1,1,cap,43,-5,2,30,20,0,500,333\n")
            .unwrap_err();
        assert!(error.contains("there is no type `botle`"), "{error}");
        assert!(error.contains("did you mean `bottle`?"), "{error}");
        assert!(
            error.contains("row 1 (line 3)") && error.contains("-5 is not a pixel"),
            "{error}"
        );
        let error =
            read("0,1,bottle,24,1,2,100,200,-1,5,5\n1,2,cap,43,5,2,30,20,0,5,5\n").unwrap_err();
        assert!(
            error.contains("part of box 0, which is in picture 1"),
            "{error}"
        );
        let error =
            read("0,1,bottle,24,1,2,100,200,-1,5,5\n0,1,cap,43,5,2,30,20,-1,5,5\n").unwrap_err();
        assert!(error.contains("more than one box 0"), "{error}");
    }

    #[test]
    fn few_pictures_are_the_first_ones() {
        let mut all = Annotations::made_up(Some(9));
        assert_eq!(all.train.last().map(|b| b.picture), Some(8));
        assert_eq!(all.test.last().map(|b| b.picture), Some(2));
        all.keep(3);
        assert_eq!(all, Annotations::made_up(Some(3)));
    }
}
