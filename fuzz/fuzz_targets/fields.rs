//! What every reader of numbers promises.

use logltn_data::{Values, parse_fields};

/// Reads the bytes in the format that `name` tells, and checks what comes out.
pub fn check(bytes: &[u8], name: &str) {
    let fields = match parse_fields(bytes, name) {
        Ok(fields) => fields,
        Err(wrong) => {
            assert!(wrong.has_errors());
            assert!(wrong.to_string().contains(name));
            return;
        }
    };
    assert!(!fields.is_empty());
    for field in &fields {
        let array = &field.array;
        assert_eq!(array.rows(), fields[0].array.rows());
        assert!(!array.values.is_empty());
        assert_eq!(array.shape.iter().product::<usize>(), array.values.len());
        match &array.values {
            Values::F32(values) => assert!(values.iter().all(|v| v.is_finite())),
            Values::F64(values) => assert!(values.iter().all(|v| v.is_finite())),
            Values::U8(_) | Values::I64(_) => {}
        }
    }
}
