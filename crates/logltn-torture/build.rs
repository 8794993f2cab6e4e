//! Compiles the library of faults, which a program is started with and nothing is linked with.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=preload/faults.rs");
    let told = |name: &str| std::env::var_os(name).expect("cargo says so");
    if told("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let library = PathBuf::from(told("OUT_DIR")).join("libfaults.so");
    let made = Command::new(told("RUSTC"))
        .args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort"])
        .arg("--target")
        .arg(told("TARGET"))
        .arg("-o")
        .arg(&library)
        .arg("preload/faults.rs")
        .status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "the library of faults does not compile"
    );
    println!("cargo::rustc-env=LOGLTN_FAULTS={}", library.display());
}
