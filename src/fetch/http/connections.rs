//! Counting the connections of one request.
//!
//! The client asks its connector for a connection where it keeps none that can be used
//! again, and it does so in the course of the request: each such call is one connection,
//! whether or not it comes about, and whatever number of addresses of the host is tried.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

tokio::task_local! {
    static BEGUN: Arc<AtomicU32>;
}

/// Lets `request` run to its end; gives its result and how many connections it began.
pub(super) async fn counted<F: Future>(request: F) -> (F::Output, u32) {
    let begun = Arc::new(AtomicU32::new(0));
    let result = BEGUN.scope(Arc::clone(&begun), request).await;
    (result, begun.load(Ordering::Relaxed))
}

/// Puts a [`Counter`] before the connector.
#[derive(Clone)]
pub(super) struct Counting;

impl<S> Layer<S> for Counting {
    type Service = Counter<S>;

    fn layer(&self, connector: S) -> Counter<S> {
        Counter(connector)
    }
}

/// A connector whose calls are counted.
#[derive(Clone)]
pub(super) struct Counter<S>(S);

impl<S: Service<T>, T> Service<T> for Counter<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, target: T) -> S::Future {
        // Nobody counts where a request is made by itself.
        let _ = BEGUN.try_with(|begun| begun.fetch_add(1, Ordering::Relaxed));
        self.0.call(target)
    }
}
