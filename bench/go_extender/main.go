// The least that an extender in Go does: it reads a request with the standard library, judges
// nothing, and answers that all nodes pass, or that all are liked the same. The pod is not decoded.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

type nodeList struct {
	Items []json.RawMessage `json:"items"`
}

type extenderArgs struct {
	Pod       json.RawMessage
	Nodes     *nodeList
	NodeNames *[]string
}

type extenderFilterResult struct {
	Nodes                      *nodeList
	NodeNames                  *[]string
	FailedNodes                map[string]string
	FailedAndUnresolvableNodes map[string]string
	Error                      string
}

type hostPriority struct {
	Host  string
	Score int64
}

func filter(args *extenderArgs) any {
	return &extenderFilterResult{
		Nodes:                      args.Nodes,
		NodeNames:                  args.NodeNames,
		FailedNodes:                map[string]string{},
		FailedAndUnresolvableNodes: map[string]string{},
	}
}

func prioritize(args *extenderArgs) any {
	priorities := make([]hostPriority, len(*args.NodeNames))
	for i, name := range *args.NodeNames {
		priorities[i].Host = name
	}
	return priorities
}

func answering(answer func(*extenderArgs) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var args extenderArgs
		if err := json.Unmarshal(body, &args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		encoded, err := json.Marshal(answer(&args))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
		w.Write(encoded)
	}
}

func main() {
	http.HandleFunc("/filter", answering(filter))
	http.HandleFunc("/prioritize", answering(prioritize))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("go listening on %s (http)\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
