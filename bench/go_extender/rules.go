package main

import (
	"encoding/json"

	"github.com/blang/semver/v4"
	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

const (
	tolerationsKey = "scheduling.leeway/tolerations"
	affinityKey    = "scheduling.leeway/node-affinity"

	semverGt = "SemverGt"
	semverLt = "SemverLt"
	semverEq = "SemverEq"

	unknown       = "node(s) not yet known to the extender"
	unschedulable = "node(s) were unschedulable"
	untolerated   = "node(s) had untolerated taint"
	mismatch      = "node(s) didn't match Pod's node affinity/selector"

	// Past so many different reasons, or so many bytes of them, taints are named by key alone.
	maxReasons     = 10
	maxReasonBytes = 700
)

var cordoned = v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}

// version compares with a version that is parsed once for a pod.
type version struct {
	operator string
	than     semver.Version
	valid    bool
}

func newVersion(operator, value string) *version {
	than, err := semver.ParseTolerant(value)
	return &version{operator, than, err == nil}
}

func (v *version) matches(value string) bool {
	if !v.valid {
		return false
	}
	found, err := semver.ParseTolerant(value)
	if err != nil {
		return false
	}
	switch v.operator {
	case semverGt:
		return found.GT(v.than)
	case semverLt:
		return found.LT(v.than)
	default:
		return found.EQ(v.than)
	}
}

func isSemver(operator string) bool {
	return operator == semverGt || operator == semverLt || operator == semverEq
}

type toleration struct {
	v1.Toleration
	version *version
}

func newToleration(given v1.Toleration) toleration {
	made := toleration{Toleration: given}
	if isSemver(string(given.Operator)) {
		made.version = newVersion(string(given.Operator), given.Value)
	}
	return made
}

func (t *toleration) tolerates(taint *v1.Taint) bool {
	if t.version == nil {
		return t.ToleratesTaint(klog.Background(), taint, true)
	}
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	return t.version.matches(taint.Value)
}

type labelVersion struct {
	key     string
	version *version
}

// term is a node selector term: upstream's part of it, and the Semver requirements.
type term struct {
	native   *nodeaffinity.NodeSelector
	versions []labelVersion
	weight   int64
	empty    bool
}

func newTerm(given v1.NodeSelectorTerm, weight int32) (term, error) {
	made := term{weight: int64(weight)}
	native := v1.NodeSelectorTerm{MatchFields: given.MatchFields}
	for _, each := range given.MatchExpressions {
		if !isSemver(string(each.Operator)) {
			native.MatchExpressions = append(native.MatchExpressions, each)
			continue
		}
		compared := &version{}
		if len(each.Values) == 1 {
			compared = newVersion(string(each.Operator), each.Values[0])
		}
		made.versions = append(made.versions, labelVersion{each.Key, compared})
	}
	if len(native.MatchExpressions)+len(native.MatchFields) > 0 {
		selector, err := nodeaffinity.NewNodeSelector(
			&v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{native}})
		if err != nil {
			return made, err
		}
		made.native = selector
	}
	made.empty = made.native == nil && len(made.versions) == 0
	return made, nil
}

func (t *term) matches(node *v1.Node) bool {
	if t.empty {
		return false
	}
	for _, each := range t.versions {
		value, ok := node.Labels[each.key]
		if !ok || !each.version.matches(value) {
			return false
		}
	}
	return t.native == nil || t.native.Match(node)
}

// rules are what a pod asks of nodes, parsed once for a call.
type rules struct {
	tolerations []toleration
	native      nodeaffinity.RequiredNodeAffinity
	restricted  bool
	required    []term
	preferred   []term
}

func newRules(pod *v1.Pod) (*rules, error) {
	made := &rules{native: nodeaffinity.GetRequiredNodeAffinity(pod)}
	for _, each := range pod.Spec.Tolerations {
		made.tolerations = append(made.tolerations, newToleration(each))
	}
	if text, ok := pod.Annotations[tolerationsKey]; ok {
		var given []v1.Toleration
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return nil, err
		}
		for _, each := range given {
			made.tolerations = append(made.tolerations, newToleration(each))
		}
	}
	var carried []*v1.NodeAffinity
	if pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil {
		carried = append(carried, &v1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: pod.Spec.Affinity.NodeAffinity.
				PreferredDuringSchedulingIgnoredDuringExecution,
		})
	}
	if text, ok := pod.Annotations[affinityKey]; ok {
		var given v1.NodeAffinity
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return nil, err
		}
		carried = append(carried, &given)
	}
	for _, each := range carried {
		if err := made.add(each); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (r *rules) add(affinity *v1.NodeAffinity) error {
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		r.restricted = true
		for _, each := range required.NodeSelectorTerms {
			made, err := newTerm(each, 0)
			if err != nil {
				return err
			}
			r.required = append(r.required, made)
		}
	}
	for _, each := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		made, err := newTerm(each.Preference, each.Weight)
		if err != nil {
			return err
		}
		r.preferred = append(r.preferred, made)
	}
	return nil
}

func (r *rules) tolerates(taint *v1.Taint) bool {
	for i := range r.tolerations {
		if r.tolerations[i].tolerates(taint) {
			return true
		}
	}
	return false
}

// judge says why a node does not fit, and which taint keeps the pod away; "" if it fits.
func (r *rules) judge(node *v1.Node) (string, *v1.Taint) {
	if node.Spec.Unschedulable && !r.tolerates(&cordoned) {
		return unschedulable, nil
	}
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != v1.TaintEffectPreferNoSchedule && !r.tolerates(taint) {
			return untolerated, taint
		}
	}
	if matches, err := r.native.Match(node); err != nil || !matches {
		return mismatch, nil
	}
	if !r.restricted {
		return "", nil
	}
	for i := range r.required {
		if r.required[i].matches(node) {
			return "", nil
		}
	}
	return mismatch, nil
}

// softTaints counts the PreferNoSchedule taints that the pod does not tolerate.
func (r *rules) softTaints(node *v1.Node) int64 {
	var count int64
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect == v1.TaintEffectPreferNoSchedule && !r.tolerates(taint) {
			count++
		}
	}
	return count
}

// preference adds up the weights of the preferred terms that a node matches.
func (r *rules) preference(node *v1.Node) int64 {
	var sum int64
	for i := range r.preferred {
		if r.preferred[i].matches(node) {
			sum += r.preferred[i].weight
		}
	}
	return sum
}

// refusal is a node that does not fit; its text is made only when it is needed.
type refusal struct {
	node  string
	why   string
	taint *v1.Taint
}

func (r *refusal) text(withValue bool) string {
	if r.taint == nil {
		return r.why
	}
	if withValue {
		return r.why + " {" + r.taint.Key + ": " + r.taint.Value + "}"
	}
	return r.why + " {" + r.taint.Key + "}"
}

func reasons(refused []refusal) extenderv1.FailedNodesMap {
	distinct, size := map[string]struct{}{}, 0
	for i := range refused {
		text := refused[i].text(true)
		if _, ok := distinct[text]; !ok && refused[i].taint != nil {
			distinct[text] = struct{}{}
			size += len(text)
		}
	}
	withValue := len(distinct) <= maxReasons && size <= maxReasonBytes
	failed := make(extenderv1.FailedNodesMap, len(refused))
	for i := range refused {
		failed[refused[i].node] = refused[i].text(withValue)
	}
	return failed
}
