"""Showing an evaluation: the one-file HTML report and the tables on a terminal. Nothing is computed here."""

from bagpack.evaluate.schema import EvaluationResult as EvaluationResult
from bagpack.report.html import render_report as render_report
from bagpack.report.html import write_report as write_report
from bagpack.report.result import read_result as read_result
from bagpack.wording import describe_feature as describe_feature
