package live

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// process is a server in a process of its own.
type process struct {
	kind    Kind
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	address string
}

// start starts a server: this program, told which.
func start(kind Kind, gather time.Duration) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{kind: kind, command: exec.Command(self, "-serve", string(kind), "-gather", gather.String())}
	p.command.Stderr = os.Stderr
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	r, err := p.hear()
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	p.address = r.Address
	return p, nil
}

// stop ends the server, and waits for it.
func (p *process) stop() error {
	return errors.Join(p.in.Close(), p.command.Wait())
}

// tell has the server do something.
func (p *process) tell(c command) (report, error) {
	line, err := json.Marshal(c)
	if err != nil {
		return report{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return report{}, err
	}
	return p.hear()
}

func (p *process) hear() (r report, err error) {
	if !p.out.Scan() {
		return r, errors.Join(fmt.Errorf("the server of %s ended", p.kind), p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

// processor is how much processor time the server has taken.
func (p *process) processor() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	words := strings.Fields(rest)
	const user, system = 11, 12 // after the name
	if len(words) <= system {
		return 0, fmt.Errorf("the system's account of the server is %q", stat)
	}
	sum := time.Duration(0)
	for _, w := range words[user : system+1] {
		ticks, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ticks) * tick
	}
	return sum, nil
}

// tick is what the system counts processor time in.
const tick = 10 * time.Millisecond

// memory is what the server takes, in bytes: its own, which no other process
// shares, and what the system holds for its connections.
type memory struct{ own, kernel int64 }

func (m memory) minus(n memory) memory { return memory{m.own - n.own, m.kernel - n.kernel} }

// memory measures the server at rest.
func (p *process) memory() (m memory, err error) {
	if _, err := p.tell(command{Do: "rest"}); err != nil {
		return m, err
	}
	r, err := p.tell(command{Do: "kernel"})
	if err != nil {
		return m, err
	}
	m.kernel = r.Kernel
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.command.Process.Pid))
	if err != nil {
		return m, err
	}
	for line := range strings.Lines(string(maps)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "Private_Dirty" {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			m.own = n << 10
			return m, err
		}
	}
	return m, errors.New("the system does not say how much memory is the server's")
}
