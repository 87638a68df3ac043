//! Match a path by a glob. Your own function replaces this file.

/// Return whether a glob matches a path. `**/` matches zero or more directories, and `P/**` also P.
pub fn matches(glob: &str, path: &str) -> bool {
    let glob = glob.trim_matches([' ', '\t']);
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let (body, below) = glob.strip_suffix("/**").map_or((glob, false), |body| (body, true));
    let path: Vec<char> = path.chars().collect();
    // Where in the path the part of the glob that was read so far may end.
    let mut ends = vec![false; path.len() + 1];
    ends[0] = true;
    let (mut rest, mut after_slash) = (body, true);
    while let Some(c) = rest.chars().next() {
        let part = match c {
            '*' if after_slash && rest.starts_with("**/") => "**/",
            '*' if rest.starts_with("**") => "**",
            _ => &rest[..c.len_utf8()],
        };
        step(part, &path, &mut ends);
        rest = &rest[part.len()..];
        after_slash = part.ends_with('/');
    }
    let first = ends.iter().zip(&path).any(|(end, c)| *end && *c == '/');
    ends[path.len()] || below && first
}

/// Move the ends over one part of a glob.
fn step(part: &str, path: &[char], ends: &mut [bool]) {
    let before = ends.to_vec();
    let mut any = false; // whether an earlier position is an end
    for at in 0..ends.len() {
        let last = at.checked_sub(1);
        let slash = last.is_some_and(|last| path[last] == '/');
        any |= last.is_some_and(|last| before[last]);
        ends[at] = match part {
            "**" => before[at] || any,
            "**/" => before[at] || any && slash,
            "*" => before[at] || last.is_some_and(|last| ends[last]) && !slash,
            "?" => last.is_some_and(|last| before[last]) && !slash,
            _ => last.is_some_and(|last| before[last] && part.starts_with(path[last])),
        };
    }
}
