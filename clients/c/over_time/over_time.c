/* Reports of a user over time, with a state that draws nothing twice: by a panel, by draws that are remembered, or of a whole life:
   docs/bundle-format.md has the ways, docs/asking-again.md what a state and its mark are for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "normal_form.h"
#include "sha256.h"
#include "way.h"

#define TAG "optldp-turn/1"

static void put_whole(unsigned char bytes[8], uint64_t number) {
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> 8 * i);
}

/* A part of what is hashed, its length before it. */
static void add_part(sha256 *hash, const void *part, size_t size) {
    unsigned char length[8];
    put_whole(length, size);
    sha256_add(hash, length, sizeof length);
    sha256_add(hash, part, size);
}

/* The name of a state: a digest of the way and the user. */
static void name_owner(const optldp_way *way, const char *name, size_t size, char owner[65]) {
    unsigned char digest[32];
    sha256 hash;
    sha256_begin(&hash);
    add_part(&hash, way->identifier, strlen(way->identifier));
    add_part(&hash, name, size);
    sha256_end(&hash, digest);
    for (int i = 0; i < 32; i++) snprintf(owner + 2 * i, 3, "%02x", digest[i]);
}

typedef struct turn_words { /* where words of turns come from: a name, or the platform */
    const unsigned char *salt;
    const char *name;
    size_t size;
} turn_words;

static int turn_word(const turn_words *from, uint64_t number, uint64_t *word) {
    unsigned char last[8], digest[32];
    sha256 hash;
    if (from->salt == NULL) return optldp_random(word, sizeof *word);
    put_whole(last, number);
    sha256_begin(&hash);
    add_part(&hash, TAG, strlen(TAG));
    add_part(&hash, from->salt, 16);
    add_part(&hash, from->name, from->size);
    add_part(&hash, last, sizeof last);
    sha256_end(&hash, digest);
    *word = 0;
    for (int i = 0; i < 8; i++) *word |= (uint64_t)digest[i] << 8 * i;
    return 0;
}

/* The place that a word picks of fewer than 2^32, from 0: the upper 64 bits of their product. */
static uint64_t place_of(uint64_t word, uint64_t many) {
    return ((word >> 32) * many + ((word & 0xffffffff) * many >> 32)) >> 32;
}

static size_t picked(const int64_t *shares, size_t many, uint64_t word) {
    uint64_t total = 0, end = 0, chosen;
    size_t place = 0;
    for (size_t i = 0; i < many; i++) total += (uint64_t)shares[i];
    chosen = place_of(word, total);
    while ((end += (uint64_t)shares[place]) <= chosen) place++;
    return place;
}

/* The place of a user of a whole life, by the name. */
static size_t part_of(const optldp_way *way, const char *name, size_t size) {
    turn_words from = {way->salt, name, size};
    uint64_t word = 0;
    turn_word(&from, 0, &word); /* of a salt: none fails */
    return picked(way->shares, way->places, word);
}

/* Notes the turns by words at their places from 1 on. */
static optldp_status note_turns(const optldp_way *way, const turn_words *from, char *at) {
    uint64_t word;
    if (way->shares != NULL) {
        if (turn_word(from, 0, &word) != 0) return OPTLDP_NO_RANDOMNESS;
        at[1 + picked(way->shares, way->places, word)] = 1;
        return OPTLDP_OK;
    }
    for (uint32_t i = 0; i < way->most; i++) {
        uint64_t last = way->span - way->most + i + 1;
        if (turn_word(from, i, &word) != 0) return OPTLDP_NO_RANDOMNESS;
        word = 1 + place_of(word, last);
        at[at[word] ? last : word] = 1;
    }
    return OPTLDP_OK;
}

static optldp_status keep_turns(const optldp_way *way, const char *at, kept *state) {
    state->turns = arena_take(&state->memory, (size_t)way->most + 1, sizeof *state->turns);
    if (state->turns == NULL) return OPTLDP_NO_MEMORY;
    for (uint32_t turn = 1; turn <= way->span; turn++) {
        if (at[turn]) state->turns[state->turns_many++] = turn;
    }
    state->has_turns = 1;
    return OPTLDP_OK;
}

static optldp_status find_turn(const optldp_way *way, const char *name, size_t size, size_t place, uint32_t period, kept *state,
                               int *is) {
    turn_words from = {way->has_salt ? way->salt : NULL, name, size};
    uint64_t turn = (period - 1) % way->span + 1;
    optldp_status status = OPTLDP_OK;
    char *at;
    *is = way->remembers || (way->life != NO_LIFE && life_turn(way, place, period));
    if (way->remembers || way->life != NO_LIFE) return OPTLDP_OK;
    if (!way->has_salt && (state->has_turns || state->lost > 0)) { /* a lost state may have had others */
        state->has_turns = 1;
        for (size_t i = 0; i < state->turns_many; i++) *is = *is || state->turns[i] == turn;
        return OPTLDP_OK;
    }
    at = calloc((size_t)way->span + 1, 1);
    if (at == NULL) return OPTLDP_NO_MEMORY;
    status = note_turns(way, &from, at);
    if (status == OPTLDP_OK && !way->has_salt) status = keep_turns(way, at, state);
    *is = at[turn];
    free(at);
    return status;
}

/* Draws a report, or finds one that is remembered, into `report`; "" where nothing may be drawn. */
static optldp_status draw(const optldp_way *way, size_t part, const optldp_value *value, kept *state, char *report) {
    const optldp_mechanism *mechanism = way->mechanism;
    const char *text;
    optldp_value at = *value;
    optldp_status status;
    uint64_t place;
    if (way->life != NO_LIFE) return life_draw(way, part, value, state, report);
    if (!way->remembers) return optldp_line(mechanism, value, report);
    if (!optldp_takes(mechanism, value)) return OPTLDP_NOT_IN_DOMAIN;
    if (state->offset == NONE) {
        uint64_t word;
        if (optldp_random(&word, sizeof word) != 0) return OPTLDP_NO_RANDOMNESS;
        state->offset = word >> 11;
    }
    if (mechanism->sort == OF_NAMES) {
        place = optldp_found(mechanism->names, value->name)->code;
    } else {
        place = optldp_rounded(mechanism->table, value->number, (double)state->offset / (double)OPTLDP_WHOLE);
        at.number = mechanism->table->knots[place];
    }
    text = kept_find(&state->draws, place);
    if (text == NULL && state->draws.many < way->most && state->lost == 0) {
        if ((status = optldp_line(mechanism, &at, report)) != OPTLDP_OK) return status;
        if (kept_add(state, &state->draws, place, report) != 0) return OPTLDP_NO_MEMORY;
        text = report;
    }
    if (text != NULL) state->last = place;
    optldp_clear(&at, sizeof at);
    text = state->last == NONE ? NULL : kept_find(&state->draws, state->last);
    if (text == NULL) *report = '\0';
    else if (strlen(text) >= optldp_way_report_size(way)) return OPTLDP_NO_STATE;
    else memmove(report, text, strlen(text) + 1);
    return OPTLDP_OK;
}

static optldp_status report_of(const optldp_way *way, const char *name, size_t size, uint32_t period,
                               const optldp_value *value, const optldp_place *place, const optldp_place *mark,
                               kept *state, char *report) {
    char owner[65];
    const char *sent;
    size_t part = way->life != NO_LIFE ? part_of(way, name, size) : 0;
    int marked, is;
    optldp_status status;
    name_owner(way, name, size, owner);
    if ((status = kept_read(place, mark, owner, state, &marked)) != OPTLDP_OK) return status;
    if (!marked) {
        int further = state->number > 0 && state->lost < period; /* another copy may have sent this period's report */
        if (further) state->lost = period;
        if ((status = kept_write_mark(state, mark)) != OPTLDP_OK) return status;
    }
    if ((status = find_turn(way, name, size, part, period, state, &is)) != OPTLDP_OK) return status;
    if (way->life != NO_LIFE && (status = life_note(way, part, period, value, state)) != OPTLDP_OK) return status;
    sent = kept_find(&state->reports, period);
    if (is && sent == NULL && period >= state->latest && period > state->lost) {
        if ((status = draw(way, part, value, state, report)) != OPTLDP_OK) return status;
        if (*report != '\0' && kept_add(state, &state->reports, period, report) != 0) return OPTLDP_NO_MEMORY;
    }
    if (period > state->latest) state->latest = period;
    state->number++;
    if ((status = kept_write(state, owner, place)) != OPTLDP_OK) return status; /* before the mark, */
    if ((status = kept_write_mark(state, mark)) != OPTLDP_OK) return status;    /* and the mark before the report leaves */
    if (sent != NULL && strlen(sent) >= optldp_way_report_size(way)) return OPTLDP_NO_STATE;
    if (sent != NULL) strcpy(report, sent);
    return OPTLDP_OK;
}

optldp_status optldp_way_report(const optldp_way *way, const char *user, uint32_t period, const optldp_value *value,
                                const optldp_place *state, const optldp_place *mark, char *report) {
    kept made = {.offset = NONE, .last = NONE};
    size_t size;
    optldp_status status;
    char *name = user == NULL ? NULL : normal_name(user, &size);
    memset(report, '\0', optldp_way_report_size(way));
    if (name == NULL) return user != NULL && size == 1 ? OPTLDP_NO_MEMORY : OPTLDP_NO_USER;
    status = period < 1 || period > way->periods
                 ? OPTLDP_NO_PERIOD
                 : report_of(way, name, size, period, value, state, mark, &made, report);
    if (status != OPTLDP_OK) optldp_clear(report, optldp_way_report_size(way)); /* nothing of it may leave */
    arena_free(&made.memory);
    free(name);
    return status;
}

size_t optldp_way_report_size(const optldp_way *way) { return optldp_line_size(way->mechanism); }

uint32_t optldp_way_periods(const optldp_way *way) { return way->periods; }

double optldp_way_epsilon(const optldp_way *way) { return way->epsilon; }

const char *optldp_way_identifier(const optldp_way *way) { return way->identifier; }
