#include "normal_form.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unicode.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define SYLLABLES 0xac00u /* of Hangul, which are computed */
#define LEADS 0x1100u
#define VOWELS 0x1161u
#define TAILS 0x11a7u /* one before the first, for none */
#define MANY_LEADS 19u
#define MANY_VOWELS 21u
#define MANY_TAILS 28u
#define UNCHANGED 0x300u /* all characters below this stand as they are, where none from it on follows */
#define MOST_PARTS 4     /* of a character */

typedef struct entry {
    uint32_t own, one, two; /* two: 0 where there is none */
    int apart;              /* whether NFC leaves the two apart */
} entry;

typedef struct cursor {
    size_t line;
    const char *at;
    uint32_t next;
} cursor;

/* Goes to the next character that consists of others; 0 where there is no more. */
static int next_entry(cursor *from, entry *to) {
    char *end;
    while (from->at == NULL || *from->at != ' ') {
        if (from->at != NULL) from->line++;
        if (from->line == COUNT(decomposed)) return 0;
        from->next = (uint32_t)strtoul(decomposed[from->line], &end, 16);
        from->at = end;
    }
    to->own = from->next++;
    to->one = (uint32_t)strtoul(from->at + 1, &end, 16);
    to->two = *end == '.' ? (uint32_t)strtoul(end + 1, &end, 16) : 0;
    to->apart = *end == '!';
    from->at = end + to->apart;
    return 1;
}

static int class_of(uint32_t character) {
    for (size_t i = 0; character >= UNCHANGED && i < COUNT(classes); i++) {
        char *end;
        int class = (int)strtoul(classes[i], &end, 16);
        while (*end == ' ') {
            uint32_t first = (uint32_t)strtoul(end + 1, &end, 16), last = (uint32_t)strtoul(end + 1, &end, 16);
            if (first <= character && character <= last) return class;
        }
    }
    return 0;
}

static size_t decompose(uint32_t character, uint32_t *to) {
    uint32_t syllable = character - SYLLABLES;
    cursor all = {0, NULL, 0};
    entry each;
    if (syllable < MANY_LEADS * MANY_VOWELS * MANY_TAILS) {
        to[0] = LEADS + syllable / (MANY_VOWELS * MANY_TAILS);
        to[1] = VOWELS + syllable / MANY_TAILS % MANY_VOWELS;
        to[2] = TAILS + syllable % MANY_TAILS;
        return syllable % MANY_TAILS > 0 ? 3 : 2;
    }
    while (character >= 0xc0 && next_entry(&all, &each)) {
        if (each.own != character) continue;
        size_t many = decompose(each.one, to);
        if (each.two != 0) to[many++] = each.two; /* which has no parts */
        return many;
    }
    to[0] = character;
    return 1;
}

/* The character that two make; 0 for none. */
static uint32_t composed(uint32_t one, uint32_t two) {
    uint32_t syllable = one - SYLLABLES, tail = two - TAILS;
    cursor all = {0, NULL, 0};
    entry each;
    if (two < UNCHANGED) return 0;
    if (one - LEADS < MANY_LEADS && two - VOWELS < MANY_VOWELS) {
        return SYLLABLES + ((one - LEADS) * MANY_VOWELS + two - VOWELS) * MANY_TAILS;
    }
    if (syllable < MANY_LEADS * MANY_VOWELS * MANY_TAILS && syllable % MANY_TAILS == 0 && tail - 1 < MANY_TAILS - 1) {
        return one + tail;
    }
    while (next_entry(&all, &each)) {
        if (each.one == one && each.two == two && !each.apart) return each.own;
    }
    return 0;
}

/* The characters of a text in UTF-8, and how many; 0 for none, too many, and for what is no such text. */
static size_t characters_of(const char *text, uint32_t *to) {
    const unsigned char *at = (const unsigned char *)text;
    size_t many = 0;
    while (*at != '\0') {
        uint32_t first = *at++, more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        uint32_t least = more == 1 ? 0x80 : more == 2 ? 0x800 : more == 3 ? 0x10000 : 0;
        if (many == LONGEST_NAME || (first >= 0x80 && first < 0xc2) || first > 0xf4) return 0;
        to[many] = more == 0 ? first : first & (0x3fu >> more);
        for (uint32_t i = 0; i < more; i++) {
            if ((*at & 0xc0) != 0x80) return 0;
            to[many] = to[many] << 6 | (*at++ & 0x3f);
        }
        if (to[many] < least || to[many] > 0x10ffff || to[many] >> 11 == 0xd800 >> 11) return 0;
        many++;
    }
    return many;
}

static size_t put_utf8(uint32_t character, char *to) {
    int more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const unsigned char FIRST[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(FIRST[more] | character >> 6 * more);
    for (int i = 1; i <= more; i++) to[i] = (char)(0x80 | (character >> 6 * (more - i) & 0x3f));
    return (size_t)more + 1;
}

/* Puts marks that follow a character into the order of their classes. */
static void sort_marks(uint32_t *all, size_t many) {
    for (size_t i = 1; i < many; i++) {
        uint32_t own = all[i];
        int class = class_of(own);
        size_t place = i;
        for (; class > 0 && place > 0 && class_of(all[place - 1]) > class; place--) all[place] = all[place - 1];
        all[place] = own;
    }
}

/* Puts together what belongs together, in place; how many are left. */
static size_t compose(uint32_t *all, size_t many) {
    size_t made = 0, starter = many; /* many: none yet */
    int before = 0;
    for (size_t i = 0; i < many; i++) {
        int class = class_of(all[i]);
        int open = starter < many && (before < class || (before == 0 && starter + 1 == made));
        uint32_t whole = open ? composed(all[starter], all[i]) : 0;
        if (whole != 0) {
            all[starter] = whole;
            continue;
        }
        if (class == 0) starter = made;
        before = class;
        all[made++] = all[i];
    }
    return made;
}

char *normal_name(const char *name, size_t *size) {
    uint32_t *given = malloc(LONGEST_NAME * sizeof *given), *parts = malloc(MOST_PARTS * LONGEST_NAME * sizeof *parts);
    char *text = malloc(4 * MOST_PARTS * LONGEST_NAME + 1);
    size_t many = given && parts && text ? characters_of(name, given) : 0, apart = 0;
    *size = !(given && parts && text);
    if (many == 0) {
        free(text);
        text = NULL;
    } else {
        for (size_t i = 0; i < many; i++) apart += decompose(given[i], parts + apart);
        sort_marks(parts, apart);
        many = compose(parts, apart);
        for (size_t i = 0; i < many; i++) *size += put_utf8(parts[i], text + *size);
        text[*size] = '\0';
    }
    free(given);
    free(parts);
    return text;
}
