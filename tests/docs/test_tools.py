"""`make tools`: what it asks the package manager for."""

import os
import subprocess
import sys

import pytest

from tests.docs.markdown import ROOT

RUN = "import sys; sys.path.insert(0, 'scripts'); import ensure_test_tools as t; sys.exit(not t.install('lucene'))"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="packages are installed by root")
def test_installing_waits_for_another_package_manager(tmp_path):
    calls = tmp_path / "calls"
    apt = tmp_path / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n')
    apt.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=ROOT, env={**os.environ, "PATH": path}, timeout=60, check=False
    )
    assert done.returncode == 0
    update, install = calls.read_text().splitlines()
    assert update.split() == ["-o", "DPkg::Lock::Timeout=300", "update", "-qq"]
    assert install.split()[:2] == ["-o", "DPkg::Lock::Timeout=300"] and install.split()[-1] == "lucene"
