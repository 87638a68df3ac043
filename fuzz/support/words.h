/* A command line as words, split like a shell does it; nothing is expanded and no shell is asked.
 */
#ifndef BS_FUZZ_WORDS_H
#define BS_FUZZ_WORDS_H

/* A malloc'd list that ends in NULL, with room for one word more, in one block with the words.
 * NULL: a quote without its end, or no word at all. */
char **bs_fuzz_words(const char *line);

#endif
