"""The one place that runs Rally and knows its rough edges.

request     what a race is asked to be
command     the request as an esrally command line
privileges  as whom it runs: root, a user namespace, another user
preflight   what has to be true before it starts: ports, room, no other Rally
progress    what Rally prints, as progress
process     the running program, its terminal, its end
leftovers   what a race that was killed leaves, found and ended
outcome     what race.json says
failure     why a race failed, in one sentence
run         all of it in order
"""
