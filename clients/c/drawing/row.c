/* A report as it is collected (docs/report-format.md): no more of when it was made than a day. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "table.h"

#define DAY 86400 /* seconds */

/* The date of a number of days since 1970, in eras of 400 years that begin in March. */
static void put_day(uint32_t days, char text[11]) {
    uint32_t era = (days + 719468) / 146097, of_era = (days + 719468) % 146097;
    uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint32_t of_year = of_era - (365 * year + year / 4 - year / 100), from_march = (5 * of_year + 2) / 153;
    uint32_t day = of_year - (153 * from_march + 2) / 5 + 1, month = from_march < 10 ? from_march + 3 : from_march - 9;
    snprintf(text, 11, "%04u-%02u-%02u", (unsigned)((era * 400 + year + (month <= 2)) % 10000), (unsigned)(month % 100),
             (unsigned)(day % 100));
}

optldp_status optldp_row(const optldp_table *table, double value, int64_t now, char row[OPTLDP_ROW_SIZE]) {
    unsigned char id[16];
    char digits[2 * sizeof id + 1], day[11];
    uint32_t output;
    optldp_status status = optldp_index(table, value, &output);
    memset(row, '\0', OPTLDP_ROW_SIZE);
    if (status != OPTLDP_OK) return status;
    if (optldp_random(id, sizeof id) != 0) return OPTLDP_NO_RANDOMNESS;
    for (size_t i = 0; i < sizeof id; i++) snprintf(digits + 2 * i, 3, "%02x", id[i]);
    put_day(now > 0 ? (uint32_t)(now / DAY) : 0, day);
    snprintf(row, OPTLDP_ROW_SIZE, "{\"table\": \"%s\", \"output\": %" PRIu32 ", \"day\": \"%s\", \"report_id\": \"%s\"}",
             table->identifier, output, day, digits);
    return OPTLDP_OK;
}
