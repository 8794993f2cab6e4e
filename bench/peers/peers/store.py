"""What has been measured so far: a file for each task, written anew after each of its groups, so that a stopped run
goes on where it was."""

import json
import os


class Store:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, task):
        return self.folder / f"{task}.json"

    def groups(self, task):
        """By name, in the order in which they were measured."""
        try:
            groups = json.loads(self.path(task).read_text())["groups"]
        except (FileNotFoundError, ValueError, KeyError):
            return {}
        # Files of earlier versions say nothing about single groups.
        return groups if all(isinstance(g, dict) for g in groups.values()) else {}

    def add(self, task, name, group):
        groups = dict(self.groups(task), **{name: group})
        beside = self.path(task).with_suffix(".new")
        beside.write_text(json.dumps({"task": task, "groups": groups}, indent=1))
        os.replace(beside, self.path(task))  # never half a file

    def forget(self, task):
        self.path(task).unlink(missing_ok=True)

    def all(self, tasks):
        """What the page is made of: the tasks that have results."""
        found = [{"task": task, "groups": self.groups(task)} for task in tasks]
        return [task for task in found if task["groups"]]
