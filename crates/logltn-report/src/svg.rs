//! A drawing as inline SVG.

use std::fmt::Write;

use super::bitmap::corners;
use super::drawing::{Anchor, Drawing, Marker, Point, Shape};

/// Text as it can stand in HTML and SVG, also in quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // No control character may stand in XML.
            c if c.is_control() && c != '\n' && c != '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// The `<svg>` element, with `attributes` added to it. Each series is a group of class `series` with its number in
/// `data-series`.
pub(super) fn svg(drawing: &Drawing, attributes: &str) -> String {
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" {attributes}>",
        drawing.width, drawing.height
    );
    let mut open = false;
    for shape in &drawing.shapes {
        if let Shape::Series(series) = shape {
            if std::mem::take(&mut open) {
                out.push_str("</g>");
            }
            if let Some(series) = series {
                let _ = write!(out, "<g class=\"series\" data-series=\"{series}\">");
                open = true;
            }
        }
        draw(&mut out, shape);
    }
    if open {
        out.push_str("</g>");
    }
    out.push_str("</svg>");
    out
}

/// Writing to a `String` cannot fail, so results of `write!` are dropped.
fn draw(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Series(_) => {}
        Shape::Line {
            points,
            colour,
            width,
            dash,
        } => {
            let dash = dash_array(dash);
            let _ = write!(
                out,
                "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash} d=\"{}\"/>",
                colour.css(),
                path_through(points, false)
            );
        }
        Shape::Area {
            outline,
            colour,
            opacity,
        } => {
            let _ = write!(
                out,
                "<path fill=\"{}\" fill-opacity=\"{opacity}\" d=\"{}\"/>",
                colour.css(),
                path_through(outline, true)
            );
        }
        Shape::Dot {
            at,
            radius,
            marker,
            colour,
            opacity,
        } => {
            let fill = format!("fill=\"{}\" fill-opacity=\"{opacity}\"", colour.css());
            let _ = match marker {
                Marker::Circle => write!(
                    out,
                    "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" {fill}/>",
                    short(at.0),
                    short(at.1)
                ),
                Marker::Square | Marker::Triangle => write!(
                    out,
                    "<path {fill} d=\"{}\"/>",
                    path_through(&corners(*at, *radius, *marker), true)
                ),
            };
        }
        Shape::Text {
            at,
            text,
            size,
            anchor,
            colour,
            bold,
            upward,
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let weight = if *bold { " font-weight=\"600\"" } else { "" };
            let (x, y) = (short(at.0), short(at.1));
            let place = if *upward {
                format!("transform=\"translate({x} {y}) rotate(-90)\"")
            } else {
                format!("x=\"{x}\" y=\"{y}\"")
            };
            let _ = write!(
                out,
                "<text {place} font-size=\"{size}\" text-anchor=\"{anchor}\" \
                 fill=\"{}\"{weight}>{}</text>",
                colour.css(),
                escaped(text)
            );
        }
    }
}

/// A tenth of a pixel is fine enough, and a long run has many points.
fn short(value: f64) -> f64 {
    (value * 10.0).round() / 10.0 + 0.0
}

/// The attribute of a dashed line; nothing for a whole one.
pub(super) fn dash_array(dash: &[f32]) -> String {
    if dash.is_empty() {
        return String::new();
    }
    let lengths: Vec<String> = dash.iter().map(f32::to_string).collect();
    format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
}

fn path_through(points: &[Point], closed: bool) -> String {
    let mut out = String::with_capacity(points.len() * 10);
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(
            out,
            "{}{} {}",
            if i == 0 { 'M' } else { 'L' },
            short(*x),
            short(*y)
        );
    }
    if closed {
        out.push('Z');
    }
    out
}
