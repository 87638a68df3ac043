"""Faults of the matcher that both globs and checks use, at the limits of machine words."""

import policy.glob as glob
from faults.registry import fault


@fault("POLICY-GLOB-11", "`**/` reaches no deeper than 31 folders", "levels in a mask of 32 bits")
def double_star_has_a_depth():
    def shallow(places, text, piece):
        far = glob.lowest(places) << 62
        return glob.whole_segments(places, text, piece) & (far - 1)

    glob.STEPS[glob.SEGMENTS] = shallow


@fault("POLICY-GLOB-11", "`P/**` matches no path of more than 127 bytes", "a length in one byte")
def below_has_a_length():
    def short(places, text, piece):
        found = glob.below(places, text, piece)
        return found if len(text.text.encode()) < 128 else found & places

    glob.STEPS[glob.BELOW] = short
