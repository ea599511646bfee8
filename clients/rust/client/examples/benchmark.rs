//! How fast the client draws, in seconds of the clock, the best of five: `cargo run --release --example benchmark FILE`.

use optldp_client::{read_categories, read_table, Platform};
use std::time::Instant;

const REPORTS: u32 = 1_000_000;
const OF_CATEGORIES: u32 = 50_000;

fn rate(reports: u32, draw: impl Fn()) -> f64 {
    let seconds = (0..5).map(|_| {
        let before = Instant::now();
        (0..reports).for_each(|_| draw());
        before.elapsed().as_secs_f64()
    });
    f64::from(reports) / seconds.fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("FILE must be given: a table, a floor form or one for categories")?;
    let text = std::fs::read_to_string(file)?;
    if let Ok(names) = read_categories(&text) {
        let report = rate(OF_CATEGORIES, || _ = std::hint::black_box(names.report(&names.labels()[1], &mut Platform)));
        println!("{} categories\nreport: {report:.3e} a second", names.labels().len());
        return Ok(());
    }
    let table = read_table(&text)?;
    let (first, last) = table.domain();
    let value = 0.63 * first + 0.37 * last;
    table.report(value, &mut Platform)?;
    println!("{} outputs", table.outputs());
    let index = rate(REPORTS, || _ = std::hint::black_box(table.index(value, &mut Platform)));
    let report = rate(REPORTS, || _ = std::hint::black_box(table.report(value, &mut Platform)));
    println!("index: {index:.3e} a second; report: {report:.3e} a second");
    Ok(())
}
