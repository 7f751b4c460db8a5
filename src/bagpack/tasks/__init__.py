"""Data sets: word pairs, relations, ratings and multiple-choice questions, read from files as they are."""

from bagpack.tasks.pairs import Dataset as Dataset
from bagpack.tasks.pairs import read_dataset as read_dataset
from bagpack.tasks.pairs import read_pairs as read_pairs
from bagpack.tasks.questions import Question as Question
from bagpack.tasks.questions import QuestionSet as QuestionSet
from bagpack.tasks.questions import read_any as read_any
from bagpack.tasks.questions import read_questions as read_questions
