/* What a device keeps of one way and one user: a text, and the mark beside it that shows how far the text had come. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "way.h"

#define STATE "optldp-periods/1"

const char *kept_find(const kept_texts *from, uint64_t key) {
    for (size_t i = 0; i < from->many; i++) {
        if (from->all[i].key == key) return from->all[i].text;
    }
    return NULL;
}

int kept_add(kept *state, kept_texts *to, uint64_t key, const char *text) {
    kept_text *larger = arena_take(&state->memory, to->many + 1, sizeof *larger);
    char *copy = arena_take(&state->memory, strlen(text) + 1, 1);
    if (larger == NULL || copy == NULL) return -1;
    if (to->many > 0) memcpy(larger, to->all, to->many * sizeof *larger);
    strcpy(copy, text);
    larger[to->many] = (kept_text){key, copy};
    to->all = larger;
    to->many++;
    return 0;
}

/* A whole number from 0 on; 0 where the value is none. */
static int take_count(const json *value, uint64_t *to) {
    if (value == NULL || value->type != JSON_NUMBER || !value->whole || value->integer < 0) return 0;
    *to = (uint64_t)value->integer;
    return 1;
}

static int take_count_or_none(const json *value, uint64_t *to) {
    *to = NONE;
    return value != NULL && (value->type == JSON_NULL || take_count(value, to));
}

static int take_texts(arena *memory, const json *object, kept_texts *to) {
    if (object == NULL || object->type != JSON_OBJECT) return 0;
    to->all = arena_take(memory, object->size + 1, sizeof *to->all);
    if (to->all == NULL) return 0;
    for (size_t i = 0; i < object->size; i++) {
        const json *key = &object->element[2 * i], *text = &object->element[2 * i + 1];
        char *end;
        to->all[i].key = strtoull(key->text, &end, 10);
        to->all[i].text = text->text;
        if (key->size == 0 || *end != '\0' || text->type != JSON_TEXT) return 0;
    }
    to->many = object->size;
    return 1;
}

static int take_turns(arena *memory, const json *list, kept *to) {
    if (list == NULL || (list->type != JSON_NULL && list->type != JSON_LIST)) return 0;
    to->has_turns = list->type == JSON_LIST;
    if (!to->has_turns) return 1;
    to->turns = arena_take(memory, list->size + 1, sizeof *to->turns);
    to->turns_many = list->size;
    for (size_t i = 0; i < list->size; i++) {
        if (to->turns == NULL || !take_count(&list->element[i], &to->turns[i])) return 0;
    }
    return to->turns != NULL;
}

/* Of + and -, or nothing; a state of before there were any has none. */
static int take_signs(const json *value, char signs[MOST_SIGNS + 2]) {
    if (value == NULL || value->type == JSON_NULL) return 1;
    if (value->type != JSON_TEXT || value->size > MOST_SIGNS + 1 || strspn(value->text, "+-") != value->size) return 0;
    memcpy(signs, value->text, value->size + 1);
    return 1;
}

static int parse_state(const json *document, const char *owner, kept *to) {
    return json_is(json_member(document, "format"), STATE) && json_is(json_member(document, "owner"), owner) &&
           take_count(json_member(document, "number"), &to->number) &&
           take_count(json_member(document, "latest"), &to->latest) &&
           take_count(json_member(document, "lost"), &to->lost) &&
           take_count_or_none(json_member(document, "offset"), &to->offset) &&
           take_count_or_none(json_member(document, "last"), &to->last) &&
           take_signs(json_member(document, "signs"), to->signs) &&
           take_turns(&to->memory, json_member(document, "turns"), to) &&
           take_texts(&to->memory, json_member(document, "reports"), &to->reports) &&
           take_texts(&to->memory, json_member(document, "draws"), &to->draws);
}

/* Reads a place into JSON; *found: whether there is a text. */
static optldp_status read_place(const optldp_place *place, arena *memory, json *document, int *found) {
    char *text = NULL;
    size_t size = 0;
    const char *fault;
    if (place->read(place->context, &text, &size) != 0) return OPTLDP_NO_PLACE;
    *found = text != NULL;
    if (text == NULL) return OPTLDP_OK;
    fault = json_parse(memory, text, size, document);
    optldp_clear(text, size);
    free(text);
    return fault == NULL ? OPTLDP_OK : OPTLDP_NO_STATE;
}

optldp_status kept_read(const optldp_place *state, const optldp_place *mark, const char *owner, kept *to, int *marked) {
    uint64_t number, latest;
    json document, further;
    int found;
    optldp_status status;
    memset(to, 0, sizeof *to);
    to->offset = to->last = NONE;
    if ((status = read_place(mark, &to->memory, &further, marked)) != OPTLDP_OK) return status;
    if ((status = read_place(state, &to->memory, &document, &found)) != OPTLDP_OK) return status;
    if (found && !parse_state(&document, owner, to)) return OPTLDP_NO_STATE;
    if (!*marked) return OPTLDP_OK;
    if (!take_count(json_member(&further, "number"), &number) || !take_count(json_member(&further, "latest"), &latest)) {
        return OPTLDP_NO_STATE;
    }
    if (number > to->number) {
        to->number = number;
        if (latest > to->latest) to->latest = latest;
        if (latest > to->lost) to->lost = latest;
    }
    return OPTLDP_OK;
}

typedef struct text { /* that grows */
    char *bytes;
    size_t size, room;
    int failed;
} text;

static void put(text *to, const char *more) {
    size_t size = strlen(more);
    if (to->failed) return;
    if (to->size + size + 1 > to->room) {
        size_t room = 2 * (to->size + size + 1);
        char *larger = malloc(room); /* realloc would leave a copy */
        if (larger == NULL) {
            to->failed = 1;
            return;
        }
        if (to->size > 0) memcpy(larger, to->bytes, to->size);
        if (to->bytes != NULL) optldp_clear(to->bytes, to->size);
        free(to->bytes);
        to->bytes = larger;
        to->room = room;
    }
    memcpy(to->bytes + to->size, more, size + 1);
    to->size += size;
}

static void put_number(text *to, const char *before, uint64_t number) {
    char digits[24] = "null";
    if (number != NONE) snprintf(digits, sizeof digits, "%" PRIu64, number);
    put(to, before);
    put(to, digits);
}

/* Reports have no characters that JSON escapes. */
static void put_texts(text *to, const char *before, const kept_texts *from) {
    put(to, before);
    for (size_t i = 0; i < from->many; i++) {
        put_number(to, i > 0 ? ", \"" : "\"", from->all[i].key);
        put(to, "\": \"");
        put(to, from->all[i].text);
        put(to, "\"");
    }
    put(to, "}");
}

static optldp_status write_text(text *from, const optldp_place *place) {
    optldp_status status = from->failed ? OPTLDP_NO_MEMORY : OPTLDP_OK;
    if (!from->failed && place->write(place->context, from->bytes, from->size) != 0) status = OPTLDP_NO_PLACE;
    if (from->bytes != NULL) optldp_clear(from->bytes, from->size);
    free(from->bytes);
    return status;
}

optldp_status kept_write(const kept *from, const char *owner, const optldp_place *state) {
    text made = {NULL, 0, 0, 0};
    put(&made, "{\"format\": \"" STATE "\", \"owner\": \"");
    put(&made, owner);
    put_number(&made, "\", \"number\": ", from->number);
    put_number(&made, ", \"latest\": ", from->latest);
    put_number(&made, ", \"lost\": ", from->lost);
    put_number(&made, ", \"offset\": ", from->offset);
    put_number(&made, ", \"last\": ", from->last);
    put(&made, from->has_turns ? ", \"turns\": [" : ", \"turns\": null");
    for (size_t i = 0; i < from->turns_many; i++) put_number(&made, i > 0 ? ", " : "", from->turns[i]);
    put(&made, from->has_turns ? "], \"signs\": \"" : ", \"signs\": \"");
    put(&made, from->signs);
    put_texts(&made, "\", \"reports\": {", &from->reports);
    put_texts(&made, ", \"draws\": {", &from->draws);
    put(&made, "}");
    return write_text(&made, state);
}

optldp_status kept_write_mark(const kept *from, const optldp_place *mark) {
    text made = {NULL, 0, 0, 0};
    put_number(&made, "{\"number\": ", from->number);
    put_number(&made, ", \"latest\": ", from->latest);
    put(&made, "}");
    return write_text(&made, mark);
}
