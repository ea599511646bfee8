/* How fast the client draws: `./benchmark FILE`, in processor seconds, the best of five. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "optldp.h"

#define REPORTS 1000000

static optldp_status draw(const optldp_table *table, double value, int whole_report) {
    uint32_t index;
    double report;
    return whole_report ? optldp_report(table, value, &report) : optldp_index(table, value, &index);
}

static double rate(const optldp_table *table, int whole_report) {
    double first, last, least = HUGE_VAL;
    optldp_domain(table, &first, &last);
    for (int run = 0; run < 5; run++) {
        clock_t before = clock();
        for (int i = 0; i < REPORTS; i++) {
            if (draw(table, 0.63 * first + 0.37 * last, whole_report) != OPTLDP_OK) return 0.0;
        }
        double taken = (double)(clock() - before) / CLOCKS_PER_SEC;
        if (taken < least) least = taken;
    }
    return REPORTS / least;
}

int main(int many, char **arguments) {
    static char text[1 << 25];
    FILE *file = many == 2 ? fopen(arguments[1], "rb") : NULL;
    size_t size = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    optldp_table *table;
    const char *fault = optldp_read(text, size, &table);
    if (file != NULL) fclose(file);
    if (fault != NULL) {
        fprintf(stderr, "benchmark: %s\n", fault);
        return 1;
    }
    printf("%u outputs\n", (unsigned)optldp_outputs(table));
    printf("index: %.3g a second; report: %.3g a second\n", rate(table, 0), rate(table, 1));
    optldp_free(table);
    return 0;
}
