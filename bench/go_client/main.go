// Calls extenders with kube-scheduler's own client, and says how long each call took.
//
// It reads one JSON object a line: {"URL": ..., "Verb": "filter" or "prioritize", "Args": ...},
// where Args is an ExtenderArgs. It answers one line: {"Seconds": ..., "Nodes": ...}, where Nodes
// counts the nodes that passed, or the hosts with a score. What HTTPExtender does for
// kube-scheduler is timed: it encodes the request, sends it, reads and decodes the answer.
// Decoding the line and making the nodes is not timed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const (
	maxLine = 1 << 26
	timeout = 120 * time.Second
)

type call struct {
	URL  string
	Verb string
	Args extenderv1.ExtenderArgs
}

type report struct {
	Seconds float64
	Nodes   int
}

// server identifies an HTTPExtender: each has one connection pool.
type server struct {
	url   string
	names bool
}

type client struct {
	extenders map[server]fwk.Extender
	known     map[string]fwk.NodeInfo
}

func (c *client) extender(url string, names bool) (fwk.Extender, error) {
	key := server{url, names}
	if made, ok := c.extenders[key]; ok {
		return made, nil
	}
	made, err := scheduler.NewHTTPExtender(&config.Extender{
		URLPrefix:        url,
		FilterVerb:       "filter",
		PrioritizeVerb:   "prioritize",
		Weight:           1,
		NodeCacheCapable: names,
		HTTPTimeout:      metav1.Duration{Duration: timeout},
	})
	if err == nil {
		c.extenders[key] = made
	}
	return made, err
}

// nodes are what the scheduler has at hand when it calls. Those with a name only are made once.
func (c *client) nodes(args *extenderv1.ExtenderArgs) []fwk.NodeInfo {
	var made []fwk.NodeInfo
	if args.NodeNames == nil {
		for i := range args.Nodes.Items {
			made = append(made, nodeInfo(&args.Nodes.Items[i]))
		}
		return made
	}
	for _, name := range *args.NodeNames {
		if _, ok := c.known[name]; !ok {
			c.known[name] = nodeInfo(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		made = append(made, c.known[name])
	}
	return made
}

func nodeInfo(node *v1.Node) fwk.NodeInfo {
	info := framework.NewNodeInfo()
	info.SetNode(node)
	return info
}

func (c *client) take(asked *call) (*report, error) {
	extender, err := c.extender(asked.URL, asked.Args.NodeNames != nil)
	if err != nil {
		return nil, err
	}
	nodes := c.nodes(&asked.Args)
	runtime.GC() // so that no call pays for the garbage of another one
	since := time.Now()
	if asked.Verb == "filter" {
		passed, _, _, err := extender.Filter(asked.Args.Pod, nodes)
		return &report{time.Since(since).Seconds(), len(passed)}, err
	}
	scores, _, err := extender.Prioritize(asked.Args.Pod, nodes)
	seconds := time.Since(since).Seconds()
	if err != nil {
		return nil, err
	}
	return &report{seconds, len(*scores)}, nil
}

func run() error {
	made := client{map[server]fwk.Extender{}, map[string]fwk.NodeInfo{}}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), maxLine)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked call
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		answer, err := made.take(&asked)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", asked.Verb, asked.URL, err)
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
