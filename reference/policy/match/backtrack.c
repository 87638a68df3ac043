#include "policy/match/backtrack.h"

/* The segments of a glob or of a path that are still to match. After the last one, `at` is greater
 * than `len`. */
struct rest {
    const char *text;
    size_t at;
    size_t len;
};

struct segment {
    const char *at;
    const char *end;
};

static bool is_done(const struct rest *rest) { return rest->at > rest->len; }

/* Remove the first segment from `rest` and return it. */
static inline struct segment take_segment(struct rest *rest) {
    size_t end = rest->at;
    while (end < rest->len && rest->text[end] != '/')
        end++;
    struct segment segment = {rest->text + rest->at, rest->text + end};
    rest->at = end + 1;
    return segment;
}

static bool is_gap(const struct segment *segment) {
    return segment->end - segment->at == 2 && segment->at[0] == '*' && segment->at[1] == '*';
}

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* Match the glob from its start up to its first star, or completely if it has no star. */
static bool match_start(struct segment *glob, struct segment *text) {
    for (; glob->at < glob->end && *glob->at != '*'; glob->at++) {
        if (text->at == text->end || (*glob->at != '?' && *glob->at != *text->at))
            return false;
        text->at++;
        while (*glob->at == '?' && text->at < text->end && continues(*text->at))
            text->at++;
    }
    return true;
}

/* Match from the end backwards, up to the last star of the glob. The glob must have a star. */
static bool match_end(struct segment *glob, struct segment *text) {
    for (; glob->end[-1] != '*'; glob->end--) {
        char c = glob->end[-1];
        while (c == '?' && text->at < text->end && continues(text->end[-1]))
            text->end--;
        if (text->at == text->end || (c != '?' && c != text->end[-1]))
            return false;
        text->end--;
    }
    return true;
}

/* Match the part of the glob from its first to its last star. A star may end in the middle of a
 * character. A `?` after the star then matches the rest of the character; the result is the same as
 * if the star had ended before the character. */
static bool match_middle(struct segment glob, struct segment text) {
    const char *behind_star = NULL; /* the glob after the last star that was reached */
    const char *star_end = NULL;    /* end of the text that this star matches so far */
    for (;;) {
        bool wild = *glob.at == '?'; /* NOLINT: a star comes first, so behind_star is set */
        if (*glob.at == '*') {
            behind_star = ++glob.at;
            star_end = text.at;
            if (glob.at == glob.end)
                return true;
        } else if (text.at < text.end && (wild || *glob.at == *text.at)) {
            glob.at++;
            text.at++;
            while (wild && text.at < text.end && continues(*text.at))
                text.at++;
        } else if (text.at == text.end) {
            return false;
        } else {
            glob.at = behind_star;
            text.at = ++star_end;
        }
    }
}

/* Match one segment. A segment `*` must match at least one character; this needs no check, because
 * a path has no empty segment. */
static bool segment_matches(struct segment glob, struct segment text) {
    if (!match_start(&glob, &text))
        return false;
    if (glob.at == glob.end)
        return text.at == text.end;
    return match_end(&glob, &text) && match_middle(glob, text);
}

/* Match the segments of the glob up to the next `**`, or up to its end. Returns false if they do
 * not match at the start of `path`. */
static bool match_piece(struct rest *glob, struct rest *path, bool *gap) {
    *gap = false;
    while (!is_done(glob)) {
        struct segment segment = take_segment(glob);
        *gap = is_gap(&segment);
        if (*gap)
            return true;
        if (is_done(path) || !segment_matches(segment, take_segment(path)))
            return false;
    }
    return is_done(path);
}

bool bs_backtrack_matches(const struct bs_pattern *pattern, const char *path, size_t len) {
    bool is_root = len == 0 || (len == 1 && path[0] == '.');
    struct rest glob = {pattern->text, 0, pattern->len};
    /* the root has no segment, so `at` is already past the end */
    struct rest text = {path, is_root ? len + 1 : 0, len};
    bool gap = false;
    if (pattern->len == 1 && pattern->text[0] == '.')
        return is_root;
    if (!match_piece(&glob, &text, &gap))
        return false;
    while (gap) {
        if (is_done(&glob))
            return true;
        /* Try one place of the path after the other. The first place at which the piece matches is
         * enough, because a later place only leaves less of the path for the rest of the glob. */
        struct rest piece = glob;
        struct rest place = text;
        while (!match_piece(&glob, &text, &gap)) {
            if (is_done(&text))
                return false; /* every later place has even fewer segments left */
            (void)take_segment(&place);
            glob = piece;
            text = place;
        }
    }
    return true;
}

/* True if the segment has no `**` inside it, and not too many bytes between two stars. */
static bool segment_fits(const struct segment *segment) {
    size_t piece = 0;
    bool behind_star = false;
    for (const char *at = segment->at; at < segment->end; at++) {
        if (*at != '*') {
            piece++;
            continue;
        }
        if (behind_star && (piece == 0 || piece > BS_BACKTRACK_MOST_BYTES))
            return false;
        behind_star = true;
        piece = 0;
    }
    return true;
}

bool bs_backtrack_fits(const struct bs_pattern *pattern) {
    struct rest glob = {pattern->text, 0, pattern->len};
    size_t piece = 0;
    bool behind_gap = false;
    while (!is_done(&glob)) {
        struct segment segment = take_segment(&glob);
        bool gap = is_gap(&segment);
        behind_gap = behind_gap || gap;
        piece = gap ? 0 : piece + 1;
        if ((!gap && !segment_fits(&segment)) || (behind_gap && piece > BS_BACKTRACK_MOST_SEGMENTS))
            return false;
    }
    return true;
}
