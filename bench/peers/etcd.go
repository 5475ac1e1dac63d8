// Locks of etcd: concurrency.Mutex of its Go client, with a session for each caller. It is called,
// and answers, as the programs in C++ beside it do: see client.hpp.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

// The lease of Mortise's default, in seconds.
const ttl = 10

const clockMonotonic = 1

// The buckets of bench/measure/histogram.hpp.
const fineBits = 7

func indexOf(value uint64) uint64 {
	shift := uint64(0)
	if length := uint64(bits.Len64(value)); length > fineBits+1 {
		shift = length - fineBits - 1
	}
	return shift<<fineBits + value>>shift
}

func highestOf(index uint64) uint64 {
	if index < 2<<fineBits {
		return index
	}
	shift := index>>fineBits - 1
	return (index-shift<<fineBits+1)<<shift - 1
}

type histogram map[uint64]uint64

func (h histogram) list() [][2]uint64 {
	list := [][2]uint64{}
	for index, count := range h {
		list = append(list, [2]uint64{highestOf(index), count})
	}
	return list
}

func clock(id uintptr) int64 {
	var now syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&now)), 0)
	if errno != 0 {
		fail(errno)
	}
	return now.Nano()
}

// The time of all processors that a process used, as clock_getcpuclockid() finds it.
func usageOf(pid int) int64 { return clock(uintptr(^pid<<3 | 2)) }

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench_etcd:", err)
	os.Exit(1)
}

func must(err error) {
	if err != nil {
		fail(err)
	}
}

func number(word string) int {
	value, err := strconv.Atoi(word)
	must(err)
	return value
}

func seconds(word string) time.Duration {
	value, err := strconv.ParseFloat(word, 64)
	must(err)
	return time.Duration(value * float64(time.Second))
}

func connect(endpoints []string) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 30 * time.Second})
	must(err)
	return client
}

func newMutex(client *clientv3.Client, name string) *concurrency.Mutex {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(ttl))
	must(err)
	return concurrency.NewMutex(session, "/bench/"+name)
}

type caller struct {
	mutex   *concurrency.Mutex
	acquire histogram
	cycles  uint64
}

const (
	warmingUp = iota
	measuring
	over
)

func (c *caller) run(phase *int32) error {
	all := context.Background()
	for atomic.LoadInt32(phase) != over {
		begin := time.Now()
		if err := c.mutex.Lock(all); err != nil {
			return err
		}
		took := time.Since(begin)
		if err := c.mutex.Unlock(all); err != nil {
			return err
		}
		if atomic.LoadInt32(phase) == measuring {
			c.acquire[indexOf(uint64(took.Nanoseconds()))]++
			c.cycles++
		}
	}
	return nil
}

func newCallers(endpoints []string, count int, oneName bool) []*caller {
	clients := []*clientv3.Client{}
	for _, endpoint := range endpoints {
		clients = append(clients, connect([]string{endpoint}))
	}
	callers := []*caller{}
	for i := 0; i < count; i++ {
		name := "one"
		if !oneName {
			name = strconv.Itoa(i)
		}
		mutex := newMutex(clients[i%len(clients)], name)
		callers = append(callers, &caller{mutex: mutex, acquire: histogram{}})
	}
	return callers
}

func report(callers []*caller, took time.Duration, cpu int64, failure string) {
	all, cycles := histogram{}, []uint64{}
	for _, c := range callers {
		cycles = append(cycles, c.cycles)
		for index, count := range c.acquire {
			all[index] += count
		}
	}
	must(json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"seconds": took.Seconds(), "cycles": cycles, "acquire": all.list(), "failure": failure,
		"counters": map[string]int64{"cpu_ns": cpu, "retries": 0},
	}))
}

func load(words []string) {
	callers := newCallers(strings.Split(words[1], ","), number(words[2]), words[3] == "one")
	usage := func() int64 {
		sum := usageOf(os.Getpid())
		for _, word := range words[6:] {
			sum += usageOf(number(word))
		}
		return sum
	}
	var phase int32 = warmingUp
	var running sync.WaitGroup
	failures := make(chan error, len(callers))
	for _, c := range callers {
		running.Add(1)
		go func(c *caller) {
			defer running.Done()
			if err := c.run(&phase); err != nil {
				failures <- err
			}
		}(c)
	}
	time.Sleep(seconds(words[4]))
	before, begin := usage(), time.Now()
	atomic.StoreInt32(&phase, measuring)
	time.Sleep(seconds(words[5]))
	atomic.StoreInt32(&phase, over)
	took, cpu := time.Since(begin), usage()-before
	running.Wait()
	failure := ""
	if len(failures) > 0 {
		failure = (<-failures).Error()
	}
	report(callers, took, cpu, failure)
}

// One line for each line that it reads: when an acquire was granted. An attempt has 200 ms,
// because the client itself would wait for seconds.
func once(words []string) {
	mutex := newMutex(connect(strings.Split(words[1], ",")), "once")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		for {
			attempt, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			err := mutex.Lock(attempt)
			cancel()
			if err == nil {
				break
			}
		}
		fmt.Printf("{\"granted_at_ns\":%d}\n", clock(clockMonotonic))
		must(mutex.Unlock(context.Background()))
	}
}

func main() {
	words := os.Args[1:]
	switch {
	case len(words) == 2 && words[0] == "once":
		once(words)
	case len(words) >= 6:
		load(words)
	default:
		fmt.Fprintln(os.Stderr, "bench_etcd mutex ADDRESS,... CALLERS own|one WARM-UP SECONDS [PID...]")
		os.Exit(64)
	}
}
