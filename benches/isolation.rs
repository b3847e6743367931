//! Lockstep and isolationtester on the same server and the same specs, in turn: wall time, ratio,
//! schedules a second, how soon a wait is known, peak memory.
//!
//! `cargo bench --bench isolation -- DIR [ROUNDS]`, where DIR holds specs. isolationtester is taken
//! from the package of the server, where it lies beside PGXS.

mod support;

use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstep::isolation::{self, PlayOptions, Spec};
use lockstep::scenario;
use lockstep::server::embedded;
use lockstep::server::{Address, Endpoint, Pins, Server};
use tokio::sync::mpsc::unbounded_channel;

/// Where isolationtester lies, from the folder of the programs.
const ISOLATIONTESTER: [&str; 2] = [
    "../lib/pgxs/src/test/isolation/isolationtester",
    "../lib/postgresql/pgxs/src/test/isolation/isolationtester",
];

/// How often a process is asked for its memory.
const ASKS: Duration = Duration::from_millis(10);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let Some(folder) = arguments.next() else {
        eprintln!("skipped: say in which folder the specs are");
        return Ok(());
    };
    let rounds: usize = arguments.next().map_or(Ok(3), |rounds| rounds.parse())?;
    let specs: Vec<Arc<Spec>> = isolation::discover(&[folder])?
        .iter()
        .map(|path| {
            let source = scenario::read(path).map_err(|error| error.to_string())?;
            let spec = isolation::parse(&source);
            spec.map(Arc::new)
                .map_err(|_| format!("{} holds mistakes", path.display()))
        })
        .collect::<Result<_, _>>()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let environment = support::environment();
        let pin = Pins::built_in().major(18).ok_or("18 is not pinned")?;
        let report = |progress| eprintln!("{progress}");
        let programs = embedded::fetch(pin, &environment, &report).await?;
        let tester = ISOLATIONTESTER
            .iter()
            .map(|path| programs.join(path))
            .find(|path| path.exists())
            .ok_or("the package of the server has no isolationtester")?;
        let server = Server::Embedded(embedded::start(pin, &environment, &report).await?);
        let measured = measure(&specs, &server, &tester, rounds).await;
        server.stop().await?;
        measured
    })
}

/// What a way of running the specs took, over all rounds.
#[derive(Default)]
struct Taken {
    all: Duration,
    /// For each spec.
    each: Vec<Duration>,
    waits: Vec<Duration>,
    schedules: usize,
    peak_kib: u64,
}

async fn measure(
    specs: &[Arc<Spec>],
    server: &Server,
    tester: &Path,
    rounds: usize,
) -> Result<(), Box<dyn Error>> {
    let side_by_side = isolation::side_by_side();
    let mut theirs = Taken::default();
    let mut alone = Taken::default();
    let mut beside = Taken::default();
    // Once without counting: it also gives the server the settings that specs expect.
    lockstep(specs, server, side_by_side, &mut Taken::default()).await?;
    for _ in 0..rounds {
        isolationtester(specs, server.endpoint(), tester, &mut theirs).await?;
        lockstep(specs, server, 1, &mut alone).await?;
        lockstep(specs, server, side_by_side, &mut beside).await?;
    }
    let per_round = |time: Duration| time.as_secs_f64() / rounds as f64;
    println!(
        "{:<34} {:>8} {:>8} {:>6}",
        "spec", "theirs s", "ours s", "ratio"
    );
    for (at, spec) in specs.iter().enumerate() {
        let (theirs, ours) = (per_round(theirs.each[at]), per_round(alone.each[at]));
        println!(
            "{:<34} {theirs:8.3} {ours:8.3} {:6.2}",
            spec.name(),
            ours / theirs
        );
    }
    println!();
    let baseline = per_round(theirs.all);
    for (name, taken) in [
        ("isolationtester".to_owned(), &theirs),
        ("lockstep, one at a time".to_owned(), &alone),
        (format!("lockstep, {side_by_side} side by side"), &beside),
    ] {
        let all = per_round(taken.all);
        print!(
            "{name:<34} {all:8.3} s, ratio {:4.2}, {:5.0} schedules/s, peak {} MiB",
            all / baseline,
            alone.schedules as f64 / rounds as f64 / all,
            taken.peak_kib / 1024,
        );
        let mut waits = taken.waits.clone();
        waits.sort_unstable();
        if let Some(median) = waits.get(waits.len() / 2) {
            print!(
                ", a wait known in {:.2} ms (median of {})",
                median.as_secs_f64() * 1000.0,
                waits.len()
            );
        }
        println!();
    }
    Ok(())
}

/// Runs all specs by Lockstep.
async fn lockstep(
    specs: &[Arc<Spec>],
    server: &Server,
    jobs: usize,
    taken: &mut Taken,
) -> Result<(), Box<dyn Error>> {
    let (tell, mut ends) = unbounded_channel();
    let options = PlayOptions {
        jobs,
        limit: Duration::from_secs(60),
        superuser: true,
        fail_fast: false,
    };
    let began = Instant::now();
    isolation::run(specs.to_vec(), server, options, tell).await?;
    taken.all += began.elapsed();
    taken.each.resize(specs.len(), Duration::ZERO);
    while let Some(end) = ends.recv().await {
        taken.each[end.at] += end.elapsed;
        taken.schedules += end.played.figures.schedules;
        taken.waits.extend(end.played.figures.waits);
        if let Some(trouble) = end.played.trouble {
            return Err(format!("{}: {trouble:?}", specs[end.at].name()).into());
        }
    }
    taken.peak_kib = peak_kib("self").unwrap_or(0);
    Ok(())
}

/// Runs all specs by isolationtester, one after the other in one database, as
/// `pg_isolation_regress` does.
async fn isolationtester(
    specs: &[Arc<Spec>],
    endpoint: &Endpoint,
    tester: &Path,
    taken: &mut Taken,
) -> Result<(), Box<dyn Error>> {
    let Address::Unix { directory, port } = &endpoint.address else {
        return Err("the server has no socket".into());
    };
    let database = "isolation_regression";
    let client = endpoint.connect(&endpoint.database).await?;
    for sql in [
        format!("DROP DATABASE IF EXISTS {database}"),
        format!("CREATE DATABASE {database} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"),
    ] {
        client.batch_execute(&sql).await?;
    }
    taken.each.resize(specs.len(), Duration::ZERO);
    let began = Instant::now();
    for (at, spec) in specs.iter().enumerate() {
        let own = Instant::now();
        let mut child = Command::new(tester)
            .arg(format!("dbname={database}"))
            .env("PGHOST", directory)
            .env("PGPORT", port.to_string())
            .env("PGUSER", &endpoint.user)
            .env("PGPASSWORD", &endpoint.password)
            .env("PGAPPNAME", format!("isolation/{}", spec.name()))
            .env("PGTZ", "America/Los_Angeles")
            .env("PGDATESTYLE", "Postgres, MDY")
            .env("PGOPTIONS", "-c intervalstyle=postgres_verbose")
            .stdin(File::open(PathBuf::from(&spec.source.path))?)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let pid = child.id().to_string();
        let peak = std::thread::spawn(move || {
            let mut peak = 0;
            while let Some(now) = peak_kib(&pid) {
                peak = peak.max(now);
                std::thread::sleep(ASKS);
            }
            peak
        });
        let mut output = Vec::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_end(&mut output)?;
        }
        child.wait()?;
        taken.each[at] += own.elapsed();
        let peak = peak.join().map_err(|_| "memory was not measured")?;
        taken.peak_kib = taken.peak_kib.max(peak);
    }
    taken.all += began.elapsed();
    Ok(())
}

/// The most memory that a process has had so far, while it lives.
fn peak_kib(pid: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
