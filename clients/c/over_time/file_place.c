/* A file of its owner alone as the place of a text, on systems of POSIX. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "optldp.h"

static int read_file(void *context, char **text, size_t *size) {
    struct stat about;
    int file = open(context, O_RDONLY);
    ssize_t many = 0;
    *text = NULL;
    *size = 0;
    if (file < 0) return errno == ENOENT ? 0 : -1;
    if (fstat(file, &about) == 0 && (*text = malloc((size_t)about.st_size + 1)) != NULL) {
        while (*size < (size_t)about.st_size &&
               (many = read(file, *text + *size, (size_t)about.st_size - *size)) > 0) *size += (size_t)many;
    }
    close(file);
    if (*text != NULL && *size == (size_t)about.st_size) return 0;
    free(*text);
    *text = NULL;
    return -1;
}

/* Writes all of a text to a new file, on disk when this returns; one that a crash left, or that is another's, gives way. */
static int write_new(const char *path, const char *text, size_t size) {
    int file, failed;
    if (unlink(path) != 0 && errno != ENOENT) return -1;
    file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0) return -1;
    while (size > 0) {
        ssize_t many = write(file, text, size);
        if (many <= 0) break;
        text += many;
        size -= (size_t)many;
    }
    failed = size > 0 || fsync(file) != 0;
    return close(file) != 0 || failed ? -1 : 0;
}

/* Makes the name of a file outlive a crash. */
static int keep_name(const char *path) {
    char *copy = malloc(strlen(path) + 1);
    int folder, failed;
    if (copy == NULL) return -1;
    strcpy(copy, path);
    folder = open(dirname(copy), O_RDONLY);
    free(copy);
    if (folder < 0) return -1;
    failed = fsync(folder);
    close(folder);
    return failed;
}

static int write_file(void *context, const char *text, size_t size) {
    const char *path = context;
    size_t room = strlen(path) + sizeof ".new";
    char *beside = malloc(room);
    int failed;
    if (beside == NULL) return -1;
    snprintf(beside, room, "%s.new", path);
    failed = write_new(beside, text, size) != 0 || rename(beside, path) != 0 || keep_name(path) != 0;
    free(beside);
    return failed ? -1 : 0;
}

optldp_place optldp_file_place(char *path) { return (optldp_place){path, read_file, write_file}; }
