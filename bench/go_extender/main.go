// An extender in Go that judges as Leeway does, for the workloads of the bench.
//
// It is written the ordinary way: net/http, encoding/json, upstream's types and helpers, nodes in
// a map, each node judged by itself. It reads the annotations scheduling.leeway/tolerations and
// scheduling.leeway/node-affinity, knows the Semver operators, and answers as briefly as Leeway:
// refused nodes are named only when no node passes, and hosts with the lowest score are left out.
// It leaves out what the bench does not ask it about: CEL, NoExecute, volumes, topology spread.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

type extender struct {
	nodes map[string]*v1.Node
}

func (e *extender) filter(args *extenderv1.ExtenderArgs) (any, error) {
	rules, err := newRules(args.Pod)
	if err != nil {
		return nil, err
	}
	names := *args.NodeNames
	passed := make([]string, 0, len(names))
	refused := make([]refusal, 0, len(names))
	for _, name := range names {
		node, ok := e.nodes[name]
		if !ok {
			refused = append(refused, refusal{node: name, why: unknown})
			continue
		}
		if why, taint := rules.judge(node); why != "" {
			refused = append(refused, refusal{name, why, taint})
			continue
		}
		passed = append(passed, name)
	}
	failed := extenderv1.FailedNodesMap{}
	if len(passed) == 0 {
		failed = reasons(refused)
	}
	return &extenderv1.ExtenderFilterResult{
		NodeNames:                  &passed,
		FailedNodes:                extenderv1.FailedNodesMap{},
		FailedAndUnresolvableNodes: failed,
	}, nil
}

func (e *extender) prioritize(args *extenderv1.ExtenderArgs) (any, error) {
	rules, err := newRules(args.Pod)
	if err != nil {
		return nil, err
	}
	names := *args.NodeNames
	taints := make([]int64, len(names))
	affinity := make([]int64, len(names))
	for i, name := range names {
		if node, ok := e.nodes[name]; ok {
			taints[i] = rules.softTaints(node)
			affinity[i] = rules.preference(node)
		}
	}
	scores := combined(fewest(taints), most(affinity))
	return priorities(names, scores), nil
}

// priorities are the hosts above the lowest score, and by how much.
func priorities(names []string, scores []int64) extenderv1.HostPriorityList {
	listed := extenderv1.HostPriorityList{}
	lowest, _ := bounds(scores)
	for i, name := range names {
		if scores[i] > lowest {
			listed = append(listed, extenderv1.HostPriority{Host: name, Score: scores[i] - lowest})
		}
	}
	return listed
}

type answer func(*extenderv1.ExtenderArgs) (any, error)

func answering(give answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderArgs
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if args.Pod == nil || args.NodeNames == nil {
			http.Error(w, "a pod and the names of nodes are needed", http.StatusBadRequest)
			return
		}
		given, err := give(&args)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		encoded, err := json.Marshal(given)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
		_, _ = w.Write(encoded)
	}
}

func load(file string) (map[string]*v1.Node, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list v1.NodeList
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	nodes := make(map[string]*v1.Node, len(list.Items))
	for i := range list.Items {
		nodes[list.Items[i].Name] = &list.Items[i]
	}
	return nodes, nil
}

func run() error {
	file := flag.String("nodes", "", "a NodeList as JSON")
	flag.Parse()
	nodes, err := load(*file)
	if err != nil {
		return err
	}
	served := &extender{nodes}
	http.HandleFunc("/filter", answering(served.filter))
	http.HandleFunc("/prioritize", answering(served.prioritize))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("go listening on %s (http)\n", listener.Addr())
	return http.Serve(listener, nil)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
