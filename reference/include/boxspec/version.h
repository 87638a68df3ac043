/* The version of the library, the command and the kit. CMakeLists.txt reads it from here. */
#ifndef BOXSPEC_VERSION_H
#define BOXSPEC_VERSION_H

#define BOXSPEC_VERSION "0.1.0"

#endif
