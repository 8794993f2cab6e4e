//! Writes the data files of `theories/`: `cargo run -p logltn-standin --example make_standin`.
//!
//! They are made from figures and a seed (see `logltn_standin::standin`); only the sums of MNISTAdd read real data, the
//! labels in `data/mnist`.

mod made;

use std::error::Error;
use std::fs;
use std::path::Path;

use made::theory_files;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let labels = root.join("data/mnist/train-labels-idx1-ubyte.gz");
    let labels = fs::read(&labels).map_err(|error| format!("{}: {error}", labels.display()))?;
    for file in theory_files(&labels)? {
        let path = root.join("theories").join(file.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, &file.bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("theories/{}  {} bytes", file.path, file.bytes.len());
    }
    Ok(())
}
