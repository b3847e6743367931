//! Starts a server, says where, and holds it until standard input ends: for looking at one by
//! hand, and for the tests of what is left when its holder is killed.

use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use lockstep::server::Address;
use lockstep::server::Databases;
use lockstep::server::Pins;
use lockstep::server::embedded::{self, Environment};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let environment = Environment {
        cache: variable("LOCKSTEP_CACHE"),
        xdg_cache_home: variable("XDG_CACHE_HOME"),
        home: variable("HOME"),
        path: std::env::var_os("PATH").unwrap_or_default(),
        temp: std::env::temp_dir(),
        servers: variable("LOCKSTEP_SERVERS"),
    };
    let pin = Pins::built_in().major(18).ok_or("18 is not pinned")?;
    let began = Instant::now();
    let server =
        match embedded::start(pin, &environment, &|progress| eprintln!("-- {progress}")).await {
            Ok(server) => server,
            Err(error) => {
                eprintln!("failed to start PostgreSQL {}: {error}", pin.release);
                if let Some(help) = error.help() {
                    eprintln!("{help}");
                }
                std::process::exit(3);
            }
        };
    eprintln!("-- started after {:?}", began.elapsed());
    let databases = Databases::connect(server.endpoint(), &server.scripted_endpoint().user).await?;
    let database = databases.create().await?;
    eprintln!("-- {} after {:?}", database.name, began.elapsed());
    let Address::Unix { directory, .. } = &server.endpoint().address else {
        return Err("no Unix socket".into());
    };
    println!("{}", directory.display());
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    let began = Instant::now();
    server.stop().await;
    eprintln!("-- stopped after {:?}", began.elapsed());
    Ok(())
}
