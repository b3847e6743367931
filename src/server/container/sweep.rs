//! Clears away the containers of runs that were killed.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::join_all;
use testcontainers_modules::testcontainers::bollard::models::ContainerSummaryStateEnum;
use testcontainers_modules::testcontainers::bollard::query_parameters::ListContainersOptionsBuilder;

use super::engine::Engine;
use super::owner::{Owner, RUN, is_left_behind};

/// How long it may take; what is left then, a later run clears away.
const LIMIT: Duration = Duration::from_secs(20);

/// Removes what dead runs of this user on this machine left on the engine. A failure leaves rubbish,
/// which is no reason to have no server.
pub(super) async fn sweep(engine: &Engine) {
    let _ = tokio::time::timeout(LIMIT, remove_left_behind(engine)).await;
}

async fn remove_left_behind(engine: &Engine) {
    let filters = HashMap::from([("label", vec![RUN])]);
    let options = ListContainersOptionsBuilder::new()
        .all(true)
        .filters(&filters)
        .build();
    let Ok(containers) = engine.docker().list_containers(Some(options)).await else {
        return;
    };
    let this = Owner::this_process();
    let left = containers.into_iter().filter_map(|container| {
        let is_running = !matches!(
            container.state,
            Some(
                ContainerSummaryStateEnum::CREATED
                    | ContainerSummaryStateEnum::EXITED
                    | ContainerSummaryStateEnum::DEAD
            )
        );
        is_left_behind(&container.labels?, is_running, &this).then_some(container.id?)
    });
    join_all(left.map(async |id| engine.remove(&id).await)).await;
}
