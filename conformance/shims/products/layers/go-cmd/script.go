package main

import "sync"

var streams = [3]string{"stdin", "stdout", "stderr"}

// script takes steps on processes; a thread of it is a goroutine.
type script struct {
	handles object
	lock    sync.Mutex
	open    map[string]*process
	threads map[string]chan func()
	done    map[string]chan struct{}
}

func runScript(message object) object {
	it := &script{
		handles: message["handles"].(object),
		open:    map[string]*process{},
		threads: map[string]chan func(){},
		done:    map[string]chan struct{}{},
	}
	steps := message["steps"].([]any)
	results := make([]object, len(steps))
	for i, each := range steps {
		step := each.(object)
		results[i] = object{}
		thread, _ := step["thread"].(string)
		switch {
		case step["step"] == "join":
			it.join(thread)
		case thread != "":
			it.thread(thread) <- func() { results[i] = it.take(step) }
		default:
			results[i] = it.take(step)
		}
	}
	for name := range it.threads {
		it.join(name)
	}
	return object{"result": object{"steps": results}}
}

func (it *script) thread(name string) chan func() {
	if it.threads[name] == nil {
		todo, done := make(chan func(), 1<<12), make(chan struct{})
		it.threads[name], it.done[name] = todo, done
		go func() {
			defer close(done)
			for act := range todo {
				act()
			}
		}()
	}
	return it.threads[name]
}

func (it *script) join(name string) {
	if it.threads[name] != nil {
		close(it.threads[name])
		<-it.done[name]
		delete(it.threads, name)
	}
}

func (it *script) repeat(step object) object {
	count, last := number(step["count"], 0), []object{}
	for i := uint64(0); i < count; i++ {
		last = []object{}
		for _, each := range step["steps"].([]any) {
			result := it.take(each.(object))
			last = append(last, result)
			if result["error"] != nil {
				return object{"repeated": i, "last": last}
			}
		}
	}
	return object{"repeated": count, "last": last}
}

func (it *script) take(step object) object {
	kind, name := step["step"].(string), text(step, "handle")
	switch kind {
	case "repeat":
		return it.repeat(step)
	case "open":
		return it.start(name)
	}
	it.lock.Lock()
	found := it.open[name]
	if kind == "drop" {
		delete(it.open, name) // the last name of it goes, and that is all
	}
	it.lock.Unlock()
	if found == nil {
		return failed(refused("the handle is not open"))
	}
	return found.act(kind, step)
}

func (it *script) start(name string) object {
	it.lock.Lock()
	defer it.lock.Unlock()
	if it.open[name] != nil {
		return failed(refused("the handle is open; drop it first"))
	}
	handle := it.handles[name].(object)
	var modes [3]uint64
	for i, stream := range streams {
		modes[i] = number(handle[stream], 1)
	}
	if handle["nonblocking"] == true {
		return failed(refused("no option of a Cmd: nonblocking"))
	}
	made, why := open(handle["request"].(object), modes)
	if why != nil {
		return failed(why)
	}
	it.open[name] = made
	return object{"pid": made.cmd.Process.Pid}
}
