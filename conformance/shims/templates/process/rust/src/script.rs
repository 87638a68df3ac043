//! A script: steps on handles, in order and in threads. This file needs no change.

use crate::handle::Running;
use protocol::json::Json;
use protocol::{invalid, object, refuse_others, Refusal};
use std::collections::BTreeMap;
use std::sync::{mpsc::channel, Arc, Mutex};
use std::thread::{self, ScopedJoinHandle};

pub const REQUEST: &str = "program args current_dir env";
const HANDLE: &str = "request stdin stdout stderr nonblocking";

/// A handle: its request, and its program while it is open.
struct Handle<'a>(&'a Json, Mutex<Option<Arc<Running>>>);

type Handles<'a> = BTreeMap<&'a str, Handle<'a>>;

impl Handle<'_> {
    fn step(&self, step: &Json) -> Result<Json, Refusal> {
        if step.text("step") == "open" {
            let mut place = self.1.lock().unwrap();
            if place.is_some() {
                return Err(invalid("the handle is open"));
            }
            let running = place.insert(Arc::new(Running::open(self.0)?));
            return Ok(object! {"pid": running.pid});
        } else if step.text("step") == "drop" {
            return self.end().map(|()| object! {});
        }
        let running = self.1.lock().unwrap().clone();
        running.ok_or_else(|| invalid("the handle is not open"))?.step(step)
    }

    /// Leave no process.
    fn end(&self) -> Result<(), Refusal> {
        let running = self.1.lock().unwrap().take();
        running.map_or(Ok(()), |running| running.end().map_err(Refusal::from))
    }
}

/// Take one step of a script; return its result or its error.
fn take(handles: &Handles, step: &Json) -> Json {
    if step.text("step") == "repeat" {
        return repeat(handles, step);
    }
    let handle = handles.get(step.text("handle")).ok_or_else(|| invalid("there is no such handle"));
    handle.and_then(|handle| handle.step(step)).unwrap_or_else(|why| why.told())
}

fn repeat(handles: &Handles, step: &Json) -> Json {
    let (count, mut last) = (step.number("count").unwrap_or(0), vec![]);
    for at in 0..count {
        last = step.list("steps").iter().map(|each| take(handles, each)).collect();
        if last.iter().any(|done| done.get("error").is_some()) {
            return object! {"repeated": at, "last": last};
        }
    }
    object! {"repeated": count, "last": last}
}

pub fn process_script(asked: &Json) -> Result<Json, Refusal> {
    let mut handles = Handles::new();
    for (name, given) in asked.get("handles").unwrap_or(&Json::Null).fields() {
        refuse_others(given, HANDLE, "process")?;
        refuse_others(given.get("request").unwrap_or(&Json::Null), REQUEST, "process")?;
        handles.insert(name, Handle(given, Mutex::new(None)));
    }
    let steps = asked.list("steps");
    let results = Mutex::new(vec![object! {}; steps.len()]);
    let do_step = |at: usize| {
        let done = take(&handles, &steps[at]);
        results.lock().unwrap()[at] = done;
    };
    // A thread of a name takes its steps in order, while the script goes on.
    thread::scope(|scope| {
        let mut threads: BTreeMap<_, (_, ScopedJoinHandle<()>)> = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            let name = step.text("thread");
            if step.text("step") == "join" {
                if let Some((queue, thread)) = threads.remove(name) {
                    drop(queue);
                    let _ = thread.join();
                }
            } else if name.is_empty() {
                do_step(at);
            } else {
                let (queue, _) = threads.entry(name).or_insert_with(|| {
                    let (queue, each) = channel();
                    (queue, scope.spawn(move || each.iter().for_each(do_step)))
                });
                let _ = queue.send(at);
            }
        }
    });
    for handle in handles.values() {
        handle.end()?;
    }
    Ok(object! {"steps": results.into_inner().unwrap()})
}
