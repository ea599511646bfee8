/* How fast the client draws: `./benchmark FILE [CATEGORY]`, in processor seconds, the best of five. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "optldp.h"

#define REPORTS 1000000

static optldp_table *table;
static optldp_categories *categories;
static const char *category;
static double value;
static char *text_report;

static optldp_status draw_index(void) {
    uint32_t index;
    return optldp_index(table, value, &index);
}

static optldp_status draw_report(void) {
    double report;
    return optldp_report(table, value, &report);
}

static optldp_status draw_category(void) { return optldp_category_report(categories, category, text_report); }

/* Reports a second; 0 where a draw fails. */
static double rate(optldp_status (*draw)(void), int reports) {
    double least = HUGE_VAL;
    for (int run = 0; run < 5; run++) {
        clock_t before = clock();
        for (int i = 0; i < reports; i++) {
            if (draw() != OPTLDP_OK) return 0.0;
        }
        double taken = (double)(clock() - before) / CLOCKS_PER_SEC;
        if (taken < least) least = taken;
    }
    return reports / least;
}

int main(int many, char **arguments) {
    static char text[1 << 25];
    FILE *file = many > 1 ? fopen(arguments[1], "rb") : NULL;
    size_t size = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    const char *fault = many == 3 ? optldp_read_categories(text, size, &categories) : optldp_read(text, size, &table);
    if (file != NULL) fclose(file);
    if (fault != NULL) {
        fprintf(stderr, "benchmark: %s\n", fault);
        return 1;
    }
    if (many == 3) {
        category = arguments[2];
        text_report = malloc(optldp_category_report_size(categories));
        if (text_report == NULL) return 1;
        printf("report: %.3g a second\n", rate(draw_category, REPORTS / 20));
        free(text_report);
    } else {
        double first, last;
        optldp_domain(table, &first, &last);
        value = 0.63 * first + 0.37 * last;
        printf("%u outputs\n", (unsigned)optldp_outputs(table));
        printf("index: %.3g a second; report: %.3g a second\n", rate(draw_index, REPORTS), rate(draw_report, REPORTS));
    }
    optldp_free(table);
    optldp_free_categories(categories);
    return 0;
}
