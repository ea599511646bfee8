/* Unicode's form NFC, of which C has nothing: a name that two keyboards write in two ways is one user's. */
#ifndef OPTLDP_NORMAL_FORM_H
#define OPTLDP_NORMAL_FORM_H

#include <stddef.h>

#define LONGEST_NAME 1024 /* characters */

/* A name of 1 to LONGEST_NAME characters in the form NFC, in memory of malloc, and its bytes in *size; NULL, and 0 in *size, for
   what is no such text in UTF-8, and NULL and 1 where there is too little memory. */
char *normal_name(const char *name, size_t *size);

#endif
