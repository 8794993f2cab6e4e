//! A drawing as a PNG.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash,
    Transform,
};

use logltn::{Code, Diagnostic};

use super::drawing::{Anchor, Drawing, Marker, Point, Shape};
use super::font;
use super::palette::{BACKGROUND, Colour};

/// Pixels of the file per pixel of the drawing: sharp on dense screens and in print.
const SCALE: f32 = 2.0;

/// The bytes of a PNG that shows `drawing`.
pub(super) fn png(drawing: &Drawing) -> Result<Vec<u8>, Diagnostic> {
    let size = |pixels: f64| (pixels as f32 * SCALE).ceil() as u32;
    let (width, height) = (size(drawing.width), size(drawing.height));
    let mut pixmap = Pixmap::new(width, height).ok_or_else(|| {
        Diagnostic::error(
            Code::CannotWrite,
            format!("a picture of {width} × {height} pixels cannot be made"),
        )
    })?;
    let Colour(red, green, blue) = BACKGROUND;
    pixmap.fill(Color::from_rgba8(red, green, blue, 255));
    for shape in &drawing.shapes {
        draw(&mut pixmap, shape);
    }
    pixmap.encode_png().map_err(|error| {
        Diagnostic::error(
            Code::CannotWrite,
            format!("the picture cannot be encoded: {error}"),
        )
    })
}

fn paint(colour: Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let opacity = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    paint.set_color_rgba8(colour.0, colour.1, colour.2, opacity);
    paint.anti_alias = true;
    paint
}

fn draw(pixmap: &mut Pixmap, shape: &Shape) {
    let scaled = Transform::from_scale(SCALE, SCALE);
    match shape {
        Shape::Line {
            points,
            colour,
            width,
            dash,
        } => {
            let stroke = Stroke {
                width: *width as f32,
                line_cap: LineCap::Round,
                line_join: LineJoin::Round,
                dash: StrokeDash::new(dash.clone(), 0.0),
                ..Stroke::default()
            };
            if let Some(path) = path_through(points, false) {
                pixmap.stroke_path(&path, &paint(*colour, 1.0), &stroke, scaled, None);
            }
        }
        Shape::Area {
            outline,
            colour,
            opacity,
        } => fill(pixmap, path_through(outline, true), *colour, *opacity),
        Shape::Dot {
            at,
            radius,
            marker,
            colour,
            opacity,
        } => fill(pixmap, dot(*at, *radius, *marker), *colour, *opacity),
        Shape::Text {
            at,
            text,
            size,
            anchor,
            colour,
            bold,
            upward,
        } => {
            let width = font::width(text, *size, *bold);
            let before = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => width / 2.0,
                Anchor::End => width,
            };
            let mut path = PathBuilder::new();
            font::outline(text, (-before as f32, 0.0), *size as f32, *bold, &mut path);
            let turned = if *upward { -90.0 } else { 0.0 };
            let place = scaled
                .pre_translate(at.0 as f32, at.1 as f32)
                .pre_concat(Transform::from_rotate(turned));
            if let Some(path) = path.finish() {
                let paint = paint(*colour, 1.0);
                pixmap.fill_path(&path, &paint, FillRule::Winding, place, None);
            }
        }
    }
}

fn fill(pixmap: &mut Pixmap, path: Option<Path>, colour: Colour, opacity: f64) {
    if let Some(path) = path {
        let scaled = Transform::from_scale(SCALE, SCALE);
        let paint = paint(colour, opacity);
        pixmap.fill_path(&path, &paint, FillRule::Winding, scaled, None);
    }
}

fn path_through(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        if i == 0 {
            path.move_to(*x as f32, *y as f32);
        } else {
            path.line_to(*x as f32, *y as f32);
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn dot((x, y): Point, radius: f64, marker: Marker) -> Option<Path> {
    match marker {
        Marker::Circle => PathBuilder::from_circle(x as f32, y as f32, radius as f32),
        Marker::Square | Marker::Triangle => path_through(&corners((x, y), radius, marker), true),
    }
}

/// The corners of a marker with as much ink as a circle of `radius`.
pub(super) fn corners((x, y): Point, radius: f64, marker: Marker) -> Vec<Point> {
    match marker {
        Marker::Circle => Vec::new(),
        Marker::Square => {
            let r = radius * 0.89;
            vec![
                (x - r, y - r),
                (x + r, y - r),
                (x + r, y + r),
                (x - r, y + r),
            ]
        }
        Marker::Triangle => {
            let r = radius * 1.4;
            vec![
                (x, y - r),
                (x + r * 0.87, y + r * 0.5),
                (x - r * 0.87, y + r * 0.5),
            ]
        }
    }
}
