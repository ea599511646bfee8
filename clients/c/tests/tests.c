/* What no vector shows: generators that fail, at each of their calls. `make test`. */
#define _XOPEN_SOURCE 700 /* stat */
#define getentropy planted /* below, in place of the platform's */
#include "random.c"
#include "combined.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int calls_left; /* before the generator fails */

int planted(void *bytes, size_t size) {
    if (size > 256 || calls_left-- <= 0) return -1; /* as getentropy, it gives all or none */
    memset(bytes, 0x55, size);
    return 0;
}

static int faults;

static void check(int holds, const char *claim, const char *of, int calls) {
    if (holds) return;
    faults++;
    printf("FAILED %s: %s, %d calls answered\n", of, claim, calls);
}

static size_t read_file(const char *folder, const char *name, char *text, size_t room) {
    char path[4096];
    FILE *file;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    size = file != NULL ? fread(text, 1, room, file) : 0;
    if (file != NULL) fclose(file);
    return size;
}

static void test_table(const char *folder) {
    static char text[1 << 16];
    optldp_table *table;
    const char *fault = optldp_read(text, read_file(folder, "table.json", text, sizeof text), &table);
    uint32_t index = 77;
    double report = 77;
    check(fault == NULL, "must be read", "table", 0);
    if (fault != NULL) return;
    calls_left = 0;
    check(optldp_index(table, 5, &index) == OPTLDP_NO_RANDOMNESS && index == 77, "an index must be stopped", "table", 0);
    check(optldp_report(table, 5, &report) == OPTLDP_NO_RANDOMNESS && report == 77, "a report must be stopped", "table", 0);
    check(optldp_report(table, 5.0 / 0.0, &report) == OPTLDP_NOT_IN_DOMAIN, "an infinite value must be refused", "table", 0);
    static const struct { int64_t now; const char *day; } DAYS[] = {
        {0, "1970-01-01"}, {5097599, "1970-02-28"}, {5097600, "1970-03-01"}, {68169600, "1972-02-29"},
        {951782400, "2000-02-29"}, {1777593600, "2026-05-01"}, {4107456000, "2100-02-28"}};
    char row[OPTLDP_ROW_SIZE];
    for (size_t i = 0; i < sizeof DAYS / sizeof DAYS[0]; i++) {
        calls_left = 2;
        check(optldp_row(table, 5, DAYS[i].now, row) == OPTLDP_OK && strstr(row, DAYS[i].day) != NULL, row, DAYS[i].day, 2);
    }
    check(strstr(row, "{\"table\": \"t") == row && strstr(row, "\"report_id\": \"5555555555") != NULL, row, "table", 2);
    calls_left = 1;
    check(optldp_row(table, 5, 0, row) == OPTLDP_NO_RANDOMNESS && row[0] == '\0', "a row must be stopped", "table", 1);
    calls_left = 1;
    check(optldp_report(table, 5, &report) == OPTLDP_OK && report != 77, "one call must do", "table", 1);
    optldp_free(table);
}

/* `calls`: of up to 256 bytes, that a report takes where none is drawn again. */
static void test_categories(const char *folder, const char *name, int calls) {
    static char text[1 << 16];
    optldp_categories *made;
    const char *fault = optldp_read_categories(text, read_file(folder, name, text, sizeof text), &made);
    check(fault == NULL, "must be read", name, 0);
    if (fault != NULL) return;
    size_t size = optldp_category_report_size(made);
    char *report = malloc(size), *nothing = calloc(1, size);
    if (report == NULL || nothing == NULL) exit(1);
    for (int given = 0; given <= calls; given++) {
        optldp_status due = given < calls ? OPTLDP_NO_RANDOMNESS : OPTLDP_OK;
        calls_left = given;
        memset(report, 'x', size);
        check(optldp_category_report(made, "c1", report) == due, "must be stopped until all is given", name, given);
        check((memcmp(report, nothing, size) == 0) == (given < calls), "must leave nothing where it is stopped", name, given);
    }
    check(optldp_category_report(made, "c", report) == OPTLDP_NOT_IN_DOMAIN, "another category must be refused", name, 0);
    free(report);
    free(nothing);
    optldp_free_categories(made);
}

static void test_levels(const char *folder) {
    static char text[1 << 16];
    optldp_mechanism *made;
    const char *fault = optldp_read_mechanism(text, read_file(folder, "levels.json", text, sizeof text), &made);
    check(fault == NULL, "must be read", "levels", 0);
    if (fault != NULL) return;
    char *line = malloc(optldp_line_size(made));
    if (line == NULL) exit(1);
    const optldp_value wrong[] = {{.name = "c", .level = 1}, {.name = "c1", .level = 2}, {.name = NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        calls_left = 0;
        check(optldp_line(made, &wrong[i], line) == OPTLDP_NOT_IN_DOMAIN, "another value must be refused", "levels", 0);
    }
    const optldp_value value = {.name = "c1", .level = 1};
    strcpy(line, "x");
    check(optldp_line(made, &value, line) == OPTLDP_NO_RANDOMNESS && line[0] == '\0', "must be stopped", "levels", 0);
    calls_left = 1;
    check(optldp_line(made, &value, line) == OPTLDP_OK && strlen(line) == 3, "one call must do", "levels", 1);
    free(line);
    optldp_free_mechanism(made);
}

static void test_numbers(void) {
    static const struct { double number; const char *text; } SPELLED[] = {
        {4, "4.0"}, {-0.0, "0.0"}, {0.25, "0.25"}, {1e-5, "1e-05"}, {1.5e-300, "1.5e-300"}, {1e16, "1e+16"},
        {1e15, "1000000000000000.0"},
        {-1234567, "-1234567.0"}, {0.0001, "0.0001"}, {0.1 + 0.2, "0.30000000000000004"}, {5e-324, "5e-324"},
        {0x1p-44, "5.684341886080802e-14"}, {9007199254740993.0, "9007199254740992.0"}, {2e-44, "2e-44"}};
    for (size_t i = 0; i < sizeof SPELLED / sizeof SPELLED[0]; i++) {
        char text[32];
        optldp_number_text(SPELLED[i].number, text);
        check(strcmp(text, SPELLED[i].text) == 0, text, SPELLED[i].text, 0);
    }
}

/* Asks for a report of a red value; `sent` has room for it. */
static optldp_status ask(const optldp_way *way, const char *user, uint32_t period, const char *name,
                         const optldp_place *places, char *sent) {
    const optldp_value value = {.name = name};
    return optldp_way_report(way, user, period, &value, &places[0], &places[1], sent);
}

static void test_way(const char *folder, const char *scratch) {
    static char text[1 << 16], paths[2][4096], beside[4100];
    optldp_way *way;
    const char *fault = optldp_read_way(text, read_file(folder, "memoised.json", text, sizeof text), &way);
    char sent[32], again[32], longest[1026] = "";
    struct stat about = {0};
    check(fault == NULL, "must be read", "way", 0);
    if (fault != NULL) return;
    snprintf(paths[0], sizeof paths[0], "%s/state", scratch);
    snprintf(paths[1], sizeof paths[1], "%s/mark", scratch);
    const optldp_place places[] = {optldp_file_place(paths[0]), optldp_file_place(paths[1])};
    remove(paths[0]);
    remove(paths[1]);
    calls_left = 99;
    memset(longest, 'x', 1025);
    check(ask(way, "", 1, "red", places, sent) == OPTLDP_NO_USER, "no user must be refused", "way", 99);
    check(ask(way, longest, 1, "red", places, sent) == OPTLDP_NO_USER, "a long name must be refused", "way", 99);
    check(ask(way, "\xed\xa0\x80", 1, "red", places, sent) == OPTLDP_NO_USER, "no UTF-8 must be refused", "way", 99);
    check(ask(way, "ann", 0, "red", places, sent) == OPTLDP_NO_PERIOD, "period 0 must be refused", "way", 99);
    check(ask(way, "ann", 13, "red", places, sent) == OPTLDP_NO_PERIOD, "period 13 must be refused", "way", 99);
    check(ask(way, "ann", 1, "reds", places, sent) == OPTLDP_NOT_IN_DOMAIN, "another value must be refused", "way", 99);
    check(stat(paths[0], &about) != 0, "no state must be written before a report", "way", 99);
    calls_left = 1;
    check(ask(way, "Zoe\xcc\x88", 3, "red", places, sent) == OPTLDP_NO_RANDOMNESS, "must be stopped", "way", 1);
    check(sent[0] == '\0', "must leave nothing where it is stopped", "way", 1);
    snprintf(beside, sizeof beside, "%s.new", paths[0]);
    FILE *left = fopen(beside, "w"); /* by a crash, or by another program */
    if (left == NULL || fclose(left) != 0 || chmod(beside, 0644) != 0) exit(1);
    calls_left = 2;
    check(ask(way, "Zoe\xcc\x88", 3, "red", places, sent) == OPTLDP_OK && strlen(sent) == 1, "two calls must do", "way", 2);
    check(stat(paths[0], &about) == 0 && (about.st_mode & 0777) == 0600, "a state must be its owner's alone", "way", 2);
    calls_left = 0;
    check(ask(way, "Zo\xc3\xab", 3, "blue", places, again) == OPTLDP_OK, "the same period must have a report", "way", 0);
    check(strcmp(sent, again) == 0, "the same period must have the same report", "way", 0);
    check(ask(way, "bob", 4, "red", places, sent) == OPTLDP_NO_STATE, "another user's state must be refused", "way", 0);
    places[0].write(places[0].context, "{}", 2);
    check(ask(way, "Zo\xc3\xab", 4, "red", places, sent) == OPTLDP_NO_STATE, "an altered state must be refused", "way", 0);
    remove(paths[0]);
    remove(paths[1]);
    optldp_free_way(way);
}

int main(int many, char **arguments) {
    const char *folder = many == 3 ? arguments[1] : "testdata";
    test_table(folder);
    test_categories(folder, "categories.json", 1);
    test_categories(folder, "unary.json", 4);
    test_categories(folder, "sets.json", 1);
    test_categories(folder, "hashing.json", 1);
    test_categories(folder, "geometry.json", 1);
    test_levels(folder);
    test_way(folder, many == 3 ? arguments[2] : ".");
    test_numbers();
    if (faults == 0) puts("all is well");
    return faults != 0;
}
