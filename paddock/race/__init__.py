"""One race: from what a user wrote to a race that is run, and what it came to.

options       the command line -> a prepared race, every name checked before anything is started or made
run           the race itself, with its sampler, its summary and how to repeat it; view: what a person sees of it
race_results  what Rally's race.json says; timeline and costs: what the samples say
summarise     both together -> the figures of summary; cautions: what makes them doubtful; render: for a terminal
growth, load  queries while the data grows, and a paced load, from what the race has recorded
"""
