// A bridge: a program whose streams are connected with the shim's own. This file needs no change.
package main

import (
	"encoding/json"
	"io"
	"os"
	"sync"
)

func processBridge(asked message) (any, error) {
	given := message{"request": asked["request"]}
	bridged := &handle{asked: given, owned: map[string]bool{}}
	if _, why := bridged.open(); why != nil {
		return nil, failed{"execution", why.Error()}
	}
	go func() {
		io.Copy(bridged.pipes["stdin"], os.Stdin)
		bridged.pipes["stdin"].Close()
	}()
	var copies sync.WaitGroup
	for name, target := range map[string]*os.File{"stdout": os.Stdout, "stderr": os.Stderr} {
		copies.Add(1)
		go func(source, target *os.File) {
			defer copies.Done()
			io.Copy(target, source)
		}(bridged.pipes[name], target)
	}
	copies.Wait()
	return bridged.wait(message{"stay": json.RawMessage("true")})
}
