/* Split a command line into words as a shell does, without any expansion and without a shell. */
#ifndef BS_FUZZ_WORDS_H
#define BS_FUZZ_WORDS_H

/* Return a malloc'd list that ends in NULL and has room for one more word, in one block with the
 * words. NULL: a quote is not closed, or there are no words. */
char **bs_fuzz_words(const char *line);

#endif
