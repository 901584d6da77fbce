"""Learners that are broken on purpose, each by a step that a published argument leaves out; an audit must refute every one."""
