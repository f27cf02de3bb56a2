//! The client for threads that wait for their answer.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::interval;

use super::{Allowed, Client, ClientError, HttpFailure, Request, Response, Timeouts, connections};
use crate::config::NetworkConfig;
use crate::model::Bot;

/// How often a request under way looks whether it is to be given up.
const LOOK: Duration = Duration::from_millis(50);

/// A client with what runs it. Several threads may make requests at once.
#[derive(Debug)]
pub struct Transport {
    client: Client,
    runtime: Runtime,
}

/// What one request brought.
#[derive(Debug)]
pub struct Exchange {
    /// The response.
    pub result: Result<Response, HttpFailure>,
    /// Connections that were begun for it; none where a kept one was used, or none made.
    pub connections: u32,
}

/// Lets everything else that is ready go on.
async fn settle() {
    for _ in 0..2 {
        yield_now().await;
    }
}

impl Transport {
    /// A client that speaks for `bot` and may contact the addresses in `allowed` besides
    /// those of the public internet.
    ///
    /// # Errors
    /// As [`Client::new`], and where the system gives no thread.
    pub fn new(bot: &Bot, network: &NetworkConfig, allowed: Allowed) -> Result<Self, ClientError> {
        Self::with_timeouts(bot, network, allowed, Timeouts::default())
    }

    /// The same with other time-outs.
    ///
    /// # Errors
    /// As [`Transport::new`].
    pub fn with_timeouts(
        bot: &Bot,
        network: &NetworkConfig,
        allowed: Allowed,
        timeouts: Timeouts,
    ) -> Result<Self, ClientError> {
        let client = Client::with_timeouts(bot, network, allowed, timeouts)?;
        // Whoever waits for an answer does the work: no other thread has to be woken.
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ClientError::Setup(error.to_string()))?;
        Ok(Self { client, runtime })
    }

    /// Makes one GET request and waits for its end, or until `give_up` says yes, which is
    /// asked at least each 50 ms.
    ///
    /// # Panics
    /// Not to be called from asynchronous code.
    pub fn get(&self, request: Request<'_>, give_up: &dyn Fn() -> bool) -> Exchange {
        let (result, connections) = self.runtime.block_on(connections::counted(async {
            // A kept connection that was closed since the last request is noticed first.
            settle().await;
            let mut asked = pin!(self.client.get(request));
            let mut looks = interval(LOOK);
            let result = poll_fn(|context| {
                if let Poll::Ready(result) = asked.as_mut().poll(context) {
                    return Poll::Ready(result);
                }
                while looks.poll_tick(context).is_ready() {
                    if give_up() {
                        return Poll::Ready(Err(HttpFailure::GivenUp));
                    }
                }
                Poll::Pending
            })
            .await;
            // The connection is kept once what is left of its work is done.
            settle().await;
            result
        }));
        Exchange { result, connections }
    }
}
