// Holds a lock with Go's standard library: go run hold.go URL NAME
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Hold is a lock that is held until it is closed. For work of more than an hour ask for the
// validity, as hold.sh does.
type Hold struct {
	Token string // give it to every write
	// Closed when it is lost, also if nothing was heard of it for as long as it is valid.
	Lost    chan struct{}
	sent    time.Time // all times count from here
	validMs atomic.Int64
	body    io.Closer
}

type line struct {
	Event   string
	Token   string
	ValidMs int64 `json:"valid_ms"`
	Error   string
}

// Acquire waits until the lock is held.
func Acquire(url, name string) (*Hold, error) {
	hold := &Hold{Lost: make(chan struct{}), sent: time.Now()}
	request, err := http.NewRequest("GET", url+"/v1/hold/"+name+"?label=hold.go", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Mortise-Http", "1")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	hold.body = answer.Body
	lines := json.NewDecoder(bufio.NewReader(answer.Body))
	var granted line
	if err := lines.Decode(&granted); err != nil || granted.Event != "granted" {
		answer.Body.Close()
		return nil, fmt.Errorf("not acquired: %s %v", granted.Error, err)
	}
	hold.Token = granted.Token
	hold.validMs.Store(granted.ValidMs)
	var once sync.Once
	lose := func() { once.Do(func() { close(hold.Lost) }) }
	timer := time.AfterFunc(hold.left(), lose)
	go func() {
		for {
			var next line
			if lines.Decode(&next) != nil || next.Event != "alive" {
				break // lost, or closed: whatever ended the lines
			}
			hold.validMs.Store(next.ValidMs)
			timer.Reset(hold.left())
		}
		hold.validMs.Store(0)
		timer.Stop()
		lose()
	}()
	return hold, nil
}

func (hold *Hold) left() time.Duration {
	return time.Duration(hold.validMs.Load())*time.Millisecond - time.Since(hold.sent)
}

// IsValid says whether it is held now.
func (hold *Hold) IsValid() bool { return hold.left() > 0 }

// Close releases it.
func (hold *Hold) Close() error { return hold.body.Close() }

func main() {
	hold, err := Acquire(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("token", hold.Token)
	if hold.IsValid() {
		fmt.Println("work, with the token")
	}
	hold.Close()
	fmt.Println("released")
}
