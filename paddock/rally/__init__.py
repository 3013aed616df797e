"""The one place that runs Rally and knows its rough edges.

request     what a race is asked to be, and what it came to
command     the request as an esrally command line
privileges  as whom it runs: root, a user namespace, another user
preflight   what has to be true before it starts: ports, room, no other Rally
process     the running program, its terminal, what it prints, its end; orphans: what it leaves behind
leftovers   what a race that was killed leaves, found and ended
failure     why a race failed, in one sentence
run         all of it in order
"""
