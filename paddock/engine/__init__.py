"""What runs in a race: which Elasticsearch archive, on which Java.

Three kinds, chosen by ``--engine``:

embedded   Elastic's own integ-test distribution from Maven Central, repacked for Rally's cache, on a JRE from PyPI
official   Elastic's tarball, downloaded by Rally itself, on the JDK inside it
PATH       an archive at hand
"""

from paddock.engine.choose import EMBEDDED, Engine, choose_engine

__all__ = ["EMBEDDED", "Engine", "choose_engine"]
