//! The claims of a sandbox on this host. This file needs no change.

use crate::{command, CLAIMS, NAME};
use protocol::json::{field, Json};
use protocol::scratch::Scratch;
use protocol::{invalid, object, Refusal};
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::{env, io};

/// Return the aspects that a profile requests.
fn requested(profile: &str) -> Result<Vec<&'static str>, Refusal> {
    let mut aspects = vec!["fs-write", "fs-metadata", "process"];
    match profile {
        "read-only" | "repo-write" | "full-dev" => {}
        "no-network" => aspects.push("network"),
        "ci-only" => aspects.extend(["network", "ipc"]),
        _ => return Err(invalid(format!("there is no profile {profile}"))),
    }
    Ok(aspects)
}

/// Return true for host:port, [address]:port and *.
fn is_destination(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return text == "*" };
    let plain = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    plain
        && port.parse::<u16>().is_ok_and(|port| port > 0)
        && match address {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.bytes().all(name),
        }
}

/// Return the path of a program by the PATH of this process.
pub fn found(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = env::split_paths(&path).map(|folder| folder.join(program)).collect();
    places.into_iter().find(|place| place.is_file()).unwrap_or(program.into())
}

/// Return why the sandbox runs no program here, or None.
fn missing() -> io::Result<Option<String>> {
    let folder = Scratch::new("probe")?;
    let place = &folder.0;
    Ok(match command(&["true"], place, place, place, "repo-write").output() {
        Err(why) => Some(why.to_string()),
        Ok(done) if done.status.success() => None,
        Ok(done) => Some(format!("{} {}", done.status, String::from_utf8_lossy(&done.stderr))),
    })
}

pub fn probe(asked: &Json) -> Result<Json, Refusal> {
    if asked.text("backend") != NAME {
        return Err(invalid("there is no such backend"));
    }
    let mut wanted = requested(asked.text("profile"))?;
    let egress: Vec<_> = asked.list("egress").iter().filter_map(Json::as_text).collect();
    if !egress.iter().all(|each| is_destination(each)) {
        return Err(invalid("egress: not host:port, [address]:port or *"));
    } else if !egress.is_empty() && wanted.contains(&"network") {
        return Err(invalid("egress contradicts the profile"));
    } else if !egress.is_empty() {
        wanted.push("network");
    }
    let why_not = missing()?;
    let not_requested = || object! {"claim": "not-requested"};
    let mut aspects = object! {"fs-read": not_requested(), "limits": not_requested()};
    let mut fully = 0;
    for (aspect, claim) in CLAIMS {
        let is_wanted = wanted.contains(&aspect);
        let claim = match (&why_not, aspect) {
            (Some(why), _) => why,
            (_, "network") if !egress.is_empty() => "this sandbox has no list of destinations",
            _ => claim,
        };
        fully += usize::from(is_wanted && claim == "fully");
        let told = match claim {
            "fully" => object! {"claim": "fully"},
            why if is_wanted || why_not.is_some() => {
                object! {"claim": "unavailable", "reasons": vec![why]}
            }
            _ => not_requested(),
        };
        aspects = aspects.with(&field(aspect, told));
    }
    let overall = match fully {
        0 => "unavailable",
        some if some == wanted.len() => "fully",
        _ => "partial",
    };
    Ok(object! {"overall": overall, "aspects": aspects, "not_enforced": Vec::<Json>::new()})
}
