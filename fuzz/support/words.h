/* Splits a command line into words as a shell does, but without any expansion and without a
 * shell. */
#ifndef BS_FUZZ_WORDS_H
#define BS_FUZZ_WORDS_H

/* Return a list from malloc that ends in NULL and has room for one more word. List and words are in
 * one block. Returns NULL if a quote is not closed or if there are no words. */
char **bs_fuzz_words(const char *line);

#endif
