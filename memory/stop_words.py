"""English words that nearly every text holds: a question's other words say what is looked for."""

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are aren as at be because been before being between
    both but by can could couldn d did didn do does doesn doing don during each few for from further
    had hadn has hasn have haven having he her here hers herself him himself his how i if in into is
    isn it its itself just ll m me more most my myself no nor not now o of off on once only or other
    our ours ourselves out over own re s same shan she should shouldn so some such t than that the
    their theirs them themselves then there these they this those through to too under until up us
    ve very was wasn we were weren what when where which while who whom whose why will with won
    would wouldn you your yours yourself yourselves
    """.split()
)
