// A shim for boxspec, contract process. Three places say FILL IN: name, capabilities, and a handle,
// in handle.go. Until then programs are started by os/exec, so that `boxspec smoke` and
// `boxspec run` answer at once. The other files need no change.
package main

import (
	"errors"
	"sync"
)

// FILL IN: the name and version of your implementation.
var about = object{"name": "my-implementation", "version": "0.1", "language": "Go"}

// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
var capabilities = []string{"process"}

var hello = object{"implementation": about, "capabilities": capabilities}

var operations = map[string]operation{
	"process.script": {processScript, "handles steps", always},
	"process.bridge": {processBridge, "request", always},
}

func always(message) bool { return true }

// Take one step of a script; return its result or its error.
func take(handles map[string]*handle, step message) object {
	if field[string](step, "step") == "repeat" {
		last, count := []object{}, field[int](step, "count")
		for at := 0; at < count; at++ {
			last = nil
			bad := false
			for _, each := range field[[]message](step, "steps") {
				done := take(handles, each)
				last, bad = append(last, done), bad || done["error"] != nil
			}
			if bad {
				return object{"repeated": at, "last": last}
			}
		}
		return object{"repeated": count, "last": last}
	}
	done, why := handles[field[string](step, "handle")].step(step)
	var failure failed
	if errors.As(why, &failure) {
		return object{"error": failure.answer()}
	} else if why != nil {
		return object{"error": failed{"execution", why.Error()}.answer()}
	}
	return done
}

func processScript(asked message) (any, error) {
	handles := map[string]*handle{}
	for name, given := range field[map[string]message](asked, "handles") {
		why := refuseOthers(given, "request stdin stdout stderr nonblocking", "process")
		if why != nil {
			return nil, why
		}
		handles[name] = &handle{asked: given, owned: map[string]bool{}}
	}
	steps := field[[]message](asked, "steps")
	results, queues, ends := make([]object, len(steps)), map[string]chan int{}, map[string]*sync.WaitGroup{}
	for at, step := range steps {
		thread := field[string](step, "thread")
		if field[string](step, "step") == "join" {
			close(queues[thread])
			ends[thread].Wait()
			delete(queues, thread)
			results[at] = object{}
		} else if thread == "" {
			results[at] = take(handles, step)
		} else {
			// A thread of this name takes its steps in order, while the script goes on.
			if queues[thread] == nil {
				queue, end := make(chan int, len(steps)), &sync.WaitGroup{}
				queues[thread], ends[thread] = queue, end
				end.Add(1)
				go func() {
					defer end.Done()
					for each := range queue {
						results[each] = take(handles, steps[each])
					}
				}()
			}
			queues[thread] <- at
		}
	}
	for thread, queue := range queues {
		close(queue)
		ends[thread].Wait()
	}
	for _, each := range handles {
		each.drop()
	}
	return object{"steps": results}, nil
}
