"""The one place that runs Rally and knows its rough edges.

request     what a race is asked to be, and that as an esrally command line
privileges  as whom it runs: root, a user namespace, another user
preflight   what has to be true before it starts: ports, room, no other Rally
process     the running program, its terminal, what it prints, its end
leftovers   a race's processes, and what is left of one that was killed, found and ended
run         all of it in order, and what a race came to, or why it failed
"""

# Rally's default for nodes that it provisions itself (rally.py, node.http.port).
DEFAULT_HTTP_PORT = 39200
