//! What the engine is asked for.

use std::collections::HashMap;

use testcontainers_modules::postgres::Postgres;
use testcontainers_modules::testcontainers::bollard::models::{
    HostConfig, ImageConfig, PortBinding,
};
use testcontainers_modules::testcontainers::{ContainerRequest, ImageExt};

use super::Data;
use super::owner::{Owner, RUN};
use crate::server::conf::settings;
use crate::server::roles::SUPERUSER;

/// The server's port in its container.
pub(super) const PORT: &str = "5432/tcp";

/// The address that the port is published on.
pub(super) const LOOPBACK: &str = "127.0.0.1";

/// Where the images keep their data that name no volume.
const DATA: &str = "/var/lib/postgresql/data";

/// An image by its name and tag, or digest.
pub(super) fn image(image: &str) -> ContainerRequest<Postgres> {
    let (name, tag) = match image.rsplit_once(':') {
        // A colon before a slash belongs to the port of a registry.
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (image, "latest"),
    };
    Postgres::default().with_name(name).with_tag(tag)
}

/// A container named `name` of an image that the engine has.
pub(super) fn container(
    name: &str,
    image: &str,
    config: Option<&ImageConfig>,
    password: &str,
    more: &[(String, String)],
    data: Data,
) -> ContainerRequest<Postgres> {
    let mut arguments = vec!["-c".to_owned(), "listen_addresses=*".to_owned()];
    for (name, value) in settings() {
        arguments.extend(["-c".to_owned(), format!("{name}={value}")]);
    }
    for (name, value) in more {
        arguments.extend(["-c".to_owned(), format!("{name}={value}")]);
    }
    let in_memory = match data {
        Data::InMemory => folders_of_data(config),
        // The image names a volume, which the engine makes afresh.
        Data::InVolume => Vec::new(),
    };
    let mut request = self::image(image)
        .with_container_name(name)
        .with_label(RUN, name)
        .with_labels(Owner::this_process().labels())
        .with_env_var("POSTGRES_USER", SUPERUSER)
        .with_env_var("POSTGRES_PASSWORD", password)
        .with_env_var("POSTGRES_DB", "postgres")
        .with_env_var(
            "POSTGRES_INITDB_ARGS",
            "--locale=C --encoding=UTF8 --auth=scram-sha-256 --no-sync",
        )
        .with_cmd(arguments)
        // Connecting tells better than the log when the server is ready.
        .with_ready_conditions(Vec::new());
    request = request
        .with_security_opt("no-new-privileges")
        .with_host_config_modifier(move |host| confine(host, &in_memory));
    request
}

/// Publishes the one port on the loopback address and keeps some folders in memory.
fn confine(host: &mut HostConfig, in_memory: &[String]) {
    host.publish_all_ports = Some(false);
    host.port_bindings = Some(HashMap::from([(
        PORT.to_owned(),
        Some(vec![PortBinding {
            host_ip: Some(LOOPBACK.to_owned()),
            // The engine chooses one that is free.
            host_port: Some("0".to_owned()),
        }]),
    )]));
    let folders = in_memory.iter().map(|folder| (folder.clone(), "rw".into()));
    host.tmpfs = Some(folders.collect());
}

/// The folders of an image that hold data: what lies in memory makes no volume.
fn folders_of_data(config: Option<&ImageConfig>) -> Vec<String> {
    let volumes = config.and_then(|config| config.volumes.clone());
    let volumes: Vec<String> = volumes.into_iter().flatten().collect();
    if !volumes.is_empty() {
        return volumes;
    }
    let told = config
        .and_then(|config| config.env.as_ref())
        .and_then(|variables| {
            variables
                .iter()
                .find_map(|variable| variable.strip_prefix("PGDATA="))
        });
    vec![told.unwrap_or(DATA).to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_tags_are_told_apart() {
        for name in [
            "postgres:18.6",
            "mirror.example:5000/library/postgres:18.6",
            "mirror.example/postgres:18.6-bookworm",
            "postgres:18.6@sha256:0123",
        ] {
            assert_eq!(image(name).descriptor(), name);
        }
        assert_eq!(
            image("mirror.example:5000/postgres").descriptor(),
            "mirror.example:5000/postgres:latest"
        );
    }

    #[test]
    fn data_lies_in_memory_where_the_image_keeps_it() {
        let config = |volumes: &[&str], env: &[&str]| ImageConfig {
            volumes: Some(volumes.iter().map(ToString::to_string).collect()),
            env: Some(env.iter().map(ToString::to_string).collect()),
            ..ImageConfig::default()
        };
        assert_eq!(
            folders_of_data(Some(&config(&["/var/lib/postgresql"], &["PGDATA=/x"]))),
            ["/var/lib/postgresql"]
        );
        assert_eq!(folders_of_data(Some(&config(&[], &["PGDATA=/x"]))), ["/x"]);
        assert_eq!(folders_of_data(None), [DATA]);
    }
}
