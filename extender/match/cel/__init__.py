"""CEL expressions of tolerations, answered exactly as the environment of Kubernetes v1.36 does.

An expression goes through five steps, one folder each: `syntax` parses it, `check` finds its
types, `cost` estimates its worst case, `plan` turns it into closures, and these call the functions
of `library`. `program` runs the steps; `cache` keeps programs and their verdicts. Nothing here
does I/O, reads a clock or uses a CEL engine other than this one.
"""
