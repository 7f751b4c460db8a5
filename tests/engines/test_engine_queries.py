"""The fourteen queries, in the paper's notation and in the engines' own."""

from bagpack.engines.infinigram import clauses
from bagpack.engines.opensearch import intervals
from bagpack.engines.queries import Query, plan_queries

CATS = (("cat",), ("cats",))
LION = (("lion",),)


def test_fourteen_queries_in_the_papers_notation():
    queries = [str(query) for query in plan_queries([("cat", "lion")]).queries]
    assert len(queries) == len(set(queries)) == 14
    assert queries[:3] == [
        "(cat OR cats OR catting OR catted)",
        "(lion OR lions)",
        "(cat OR cats OR catting OR catted) (lion OR lions)",
    ]
    assert queries[12] == "(lion OR lions) * * * * (cat OR cats OR catting OR catted)"
    assert queries[13].count("*") == 5


def test_shared_words_and_turned_pairs_are_asked_once():
    plan = plan_queries([("cat", "lion"), ("lion", "cat"), ("cat", "lion"), ("dog", "cat")])
    assert len(plan.queries) == 14 + 13
    assert plan.listed == [("cat", "lion"), ("dog", "cat")]
    assert [query.gap for query in next(iter(plan.pairs.values()))] == [*range(6), *range(6)]


def test_forms_of_one_word_are_one_query():
    plan = plan_queries([("cat", "lion"), ("cats", "lions")])
    assert len(plan.queries) == 14


def test_a_word_with_itself():
    plan = plan_queries([("cat", "cat")])
    assert len(plan.queries) == 7


def test_several_words_and_marks_are_runs_of_tokens():
    plan = plan_queries([("ice cream", "lion's share")])
    assert plan.forms["ice cream"][1] == ("ice", "creams")
    assert plan.forms["lion's share"][0] == ("lion", "'s", "share")
    assert str(plan.queries[0]).startswith('("ice cream" OR "ice creams"')


def test_in_the_language_of_each_engine():
    pair = Query("pair", LION, CATS, 4)
    body = intervals(pair)["all_of"]
    assert (body["ordered"], body["max_gaps"]) == (True, 4)
    assert body["filter"]["script"]["source"] == "interval.gaps == 4"
    assert clauses(pair) == ["cat OR cats AND lion"]
