// call calls only doublestar, for ../../tries.py.
package main

import (
	"fmt"
	"os"

	"github.com/bmatcuk/doublestar/v4"
)

func main() {
	matched, why := doublestar.Match(os.Args[1], os.Args[2])
	if why != nil {
		fmt.Println(why)
		return
	}
	fmt.Println(matched)
}
