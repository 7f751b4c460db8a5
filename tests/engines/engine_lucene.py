"""Lucene's own interval queries behind the test node, through JPype: what OpenSearch itself runs."""

import gc
import os
import sys
from pathlib import Path

import pytest
from engine_servers import gap_filter


def lucene_jars():
    """Jars from Debian's liblucene8-java, or from the directory that BAGPACK_LUCENE names; [] if there are none."""
    place = Path(os.environ.get("BAGPACK_LUCENE", "/usr/share/java"))
    found = [sorted(place.glob(f"lucene-{name}-*.jar")) for name in ("core", "queries", "analyzers-common")]
    return [str(jars[-1]) for jars in found] if all(found) else []


def why_not():
    """A reason to skip, or an empty string."""
    if not lucene_jars():
        return "Lucene is not installed (apt install liblucene8-java default-jre-headless)"
    jpype = pytest.importorskip("jpype", reason="JPype is not installed (pip install JPype1)")
    try:
        jpype.getDefaultJVMPath()
    except jpype.JVMNotFoundException:
        return "there is no Java (apt install default-jre-headless)"
    return ""


def detach_thread():
    """Java guards the end of the stack of threads that used it: there, Python 3.13 would crash on deep recursion."""
    jpype = sys.modules.get("jpype")
    if jpype is not None and jpype.isJVMStarted():
        gc.collect()  # releasing one of Java's objects later would attach the thread again
        jpype.java.lang.Thread.detach()


class Lucene:
    """An index in memory; answers interval rules by walking Lucene's interval iterators."""

    def __init__(self, documents):
        import jpype
        import jpype.config

        if not jpype.isJVMStarted():
            # At the end of Python, Java would wait for its threads, and those of test servers never report their end.
            jpype.config.onexit = False
            jpype.startJVM(classpath=lucene_jars(), convertStrings=True)
        package = jpype.JPackage("org.apache.lucene")
        self.lucene = package
        self.directory = package.store.ByteBuffersDirectory()
        config = package.index.IndexWriterConfig(package.analysis.core.WhitespaceAnalyzer())
        writer = package.index.IndexWriter(self.directory, config)
        store = package.document.Field.Store
        for number, source in documents.items():
            document = package.document.Document()
            document.add(package.document.StoredField("number", jpype.JInt(number)))
            document.add(package.document.TextField("words", source["words"], store.NO))
            writer.addDocument(document)
        writer.close()
        self.reader = package.index.DirectoryReader.open(self.directory)

    def source(self, rule):
        """A rule as Lucene's IntervalsSource, built as OpenSearch builds it, and the gap that a filter wants."""
        import jpype

        made = self.lucene.queries.intervals.Intervals
        kind = jpype.JClass("org.apache.lucene.queries.intervals.IntervalsSource")
        ((name, body),) = rule.items()
        if name == "match":
            return made.phrase(jpype.JArray(jpype.JString)(body["query"].split())), None
        inner = jpype.JArray(kind)([self.source(part)[0] for part in body["intervals"]])
        if name == "any_of":
            return made.or_(inner), None
        assert name == "all_of"
        assert body["ordered"]
        return made.maxgaps(body["max_gaps"], made.ordered(inner)), gap_filter(body.get("filter"))

    def matching(self, rule):
        source, wanted = self.source(rule)
        found = []
        end = self.lucene.search.DocIdSetIterator.NO_MORE_DOCS
        no_more = self.lucene.queries.intervals.IntervalIterator.NO_MORE_INTERVALS
        for leaf in self.reader.leaves():
            walk = source.intervals("words", leaf)
            while walk is not None and (document := walk.nextDoc()) != end:
                gaps = []
                while walk.nextInterval() != no_more:
                    gaps.append(walk.gaps())
                if any(wanted in (None, gap) for gap in gaps):
                    number = leaf.reader().document(document).getField("number").numericValue()
                    found.append(int(number.intValue()))
        return found
