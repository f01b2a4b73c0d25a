"""CEL expressions of tolerations, answered exactly as the environment of Kubernetes v1.36 does.

Text becomes tokens (`lexer`), an AST (`parser`, `macros`), a typed AST (`checker`), a worst-case
cost (`estimate`) and closures (`planner`). `program` is the door; `library` holds the functions.
"""
