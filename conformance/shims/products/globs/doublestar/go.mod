module doublestar-shim

go 1.24

require github.com/bmatcuk/doublestar/v4 v4.10.4
