"""Settings of the test run: examples that hypothesis makes may take their time on a busy machine."""

from __future__ import annotations

import hypothesis

hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")
