"""Showing results: an evaluation as sections, on a terminal and as a one-file HTML report. Nothing is computed here."""

from bagpack.report.html import render_report as render_report
from bagpack.report.html import write_report as write_report
