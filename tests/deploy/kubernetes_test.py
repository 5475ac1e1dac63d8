"""deploy/kubernetes/mortise.yaml: fields that Kubernetes knows, parts that fit each other, and
nodes that are ready when they are started with its environment and asked with its probes.

    kubernetes_test.py MORTISE

It takes Debian's packages python3-yaml and python3-kubernetes; without them it exits with 77.
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from program import (OK, PROGRAM, Case, environment, free_ports, run, start,  # noqa: E402
                     wait_until)

try:
    import yaml
    from kubernetes.client import models
except ImportError as missing:
    print(f"not tried: {missing}")
    sys.exit(77)

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
# What is newer than the client of Debian 12, which knows Kubernetes 1.22.
NEWER = {"V1StatefulSetSpec": {"ordinals": "dict(str, int)"}}
SCALARS = {"str": str, "int": int, "bool": bool, "object": (str, int), "datetime": str}


class UniqueKeys(yaml.SafeLoader):
    """A key that stands twice is an error; the parser alone would take the second."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"{node.start_mark}: a key stands twice in {keys}"
        return super().construct_mapping(node, deep)


def documents():
    text = (FOLDER / "mortise.yaml").read_text(encoding="utf-8")
    return {each["kind"]: each for each in yaml.load_all(text, UniqueKeys)}


def complaints(value, kind, at):
    """What in the value is none of that type of the Kubernetes API."""
    if listed := re.fullmatch(r"list\[(.*)\]", kind):
        if not isinstance(value, list):
            return [f"{at}: not a list"]
        return [one for number, item in enumerate(value)
                for one in complaints(item, listed[1], f"{at}[{number}]")]
    if mapped := re.fullmatch(r"dict\(str, (.*)\)", kind):
        return [one for key, item in value.items()
                for one in complaints(item, mapped[1], f"{at}.{key}")]
    if kind in SCALARS:
        fits = isinstance(value, SCALARS[kind]) and (kind != "int" or not isinstance(value, bool))
        return [] if fits else [f"{at}: {value!r} is no {kind}"]
    return complaints_of_object(value, kind, at)


def complaints_of_object(value, kind, at):
    model = getattr(models, kind)
    types = {model.attribute_map[name]: of for name, of in model.openapi_types.items()}
    types |= NEWER.get(kind, {})
    found = []
    for key, item in value.items():
        if key in types:
            found += complaints(item, types[key], f"{at}.{key}")
        else:
            found.append(f"{at}: {kind} has no {key}")
    return found


class Read(Case):
    def setUp(self):
        super().setUp()
        self.all = documents()
        self.set = self.all["StatefulSet"]["spec"]
        self.pod = self.set["template"]["spec"]
        self.container, = self.pod["containers"]

    def variables(self, index):
        """The environment of a pod, as the kubelet makes it."""
        found = {}
        for each in self.container["env"]:
            value = each.get("value", str(index))
            found[each["name"]] = re.sub(r"\$\((\w+)\)", lambda name: found[name[1]], value)
        return found


class Manifest(Read):
    def test_every_field_is_one(self):
        for kind, version in (("Service", "v1"), ("PodDisruptionBudget", "policy/v1"),
                              ("StatefulSet", "apps/v1")):
            self.assertEqual(self.all[kind]["apiVersion"], version)
            self.assertEqual(complaints(self.all[kind], f"V1{kind}", kind), [])

    def test_a_wrong_field_and_a_wrong_type_are_found(self):
        self.container["readinesProbe"] = {}
        self.set["replicas"] = "three"
        found = complaints(self.all["StatefulSet"], "V1StatefulSet", "")
        self.assertEqual(len(found), 2, found)

    def test_the_parts_fit_each_other(self):
        labels = self.set["template"]["metadata"]["labels"]
        for selector in (self.all["Service"]["spec"]["selector"],
                         self.set["selector"]["matchLabels"],
                         self.all["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]):
            self.assertLessEqual(selector.items(), labels.items())
        self.assertEqual(self.set["serviceName"], self.all["Service"]["metadata"]["name"])
        self.assertEqual(self.all["Service"]["spec"]["clusterIP"], "None")
        port, = self.all["Service"]["spec"]["ports"]
        self.assertEqual(port["port"], self.container["ports"][0]["containerPort"])
        volumes = {each["name"] for each in self.pod["volumes"]}
        volumes |= {each["metadata"]["name"] for each in self.set["volumeClaimTemplates"]}
        self.assertEqual({each["name"] for each in self.container["volumeMounts"]}, volumes)
        lost = self.all["PodDisruptionBudget"]["spec"]["maxUnavailable"]
        self.assertGreater(self.set["replicas"] - lost, self.set["replicas"] // 2)

    def test_each_peer_is_a_pod_by_its_name(self):
        first = self.set["ordinals"]["start"]
        name = self.all["StatefulSet"]["metadata"]["name"]
        numbers = range(first, first + self.set["replicas"])
        wanted = [f"{one}={name}-{one}.{self.set['serviceName']}:7401" for one in numbers]
        self.assertEqual(self.variables(1)["MORTISE_PEER_LIST"].split(","), wanted)


class Started(Read):
    def setUp(self):
        super().setUp()
        self.ports = free_ports(3)

    def make_secret(self):
        """With the commands of the page; the files as the kubelet shows them."""
        page = (FOLDER / "README.md").read_text(encoding="utf-8")
        for command in re.findall(r"^mortise (cert .*)$", page, re.MULTILINE):
            subprocess.run([PROGRAM, *command.split()], cwd=self.directory, check=True,
                           env=environment(), capture_output=True)
        secret = self.directory / "tls"
        content = secret / "..2026_01_01"
        content.mkdir(parents=True)
        (secret / "..data").symlink_to(content.name)
        for name, path in re.findall(r"--from-file=(?:([\w.]+)=)?(\S+)", page):
            path = self.directory / path
            (content / path.name).write_bytes(path.read_bytes())
            # Kubernetes writes 0440 and root as the owner; here the files may be another user's.
            (content / path.name).chmod(0o400)
            (secret / (name or path.name)).symlink_to(f"..data/{path.name}")
        return secret

    def here(self, variables, index, secret):
        address = f"127.0.0.1:{self.ports[index - 1]}"
        found = {}
        for name, value in variables.items():
            value = value.replace("0.0.0.0:7401", address).replace("/tls/", f"{secret}/")
            value = re.sub(r"mortise-(\d)\.mortise:7401",
                           lambda peer: f"127.0.0.1:{self.ports[int(peer[1]) - 1]}", value)
            found[name] = value.replace("/data/node", str(self.directory / f"data-{index}"))
        return found

    def probe(self, name, index, variables):
        command = self.container[name]["exec"]["command"]
        self.assertEqual(command[0], "mortise")
        words = [word.replace("127.0.0.1:7401", f"127.0.0.1:{self.ports[index - 1]}")
                 for word in command[1:]]
        return run(*words, **variables).returncode

    def test_nodes_with_its_environment_pass_its_probes(self):
        secret = self.make_secret()
        nodes = []

        def begin(index):
            nodes.append(self.keep(start(*self.container["args"], **variables[index],
                                         output=self.directory / f"output-{index}")))
        variables = {index: self.here(self.variables(index), index, secret) for index in (1, 2, 3)}
        begin(1)
        try:
            wait_until(lambda: self.probe("livenessProbe", 1, variables[1]) == OK)
            self.assertNotEqual(self.probe("readinessProbe", 1, variables[1]), OK)
            for index in (2, 3):
                begin(index)
            for index in (1, 2, 3):
                wait_until(lambda index=index: self.probe("readinessProbe", index,
                                                          variables[index]) == OK)
        except TimeoutError:
            self.fail("\n".join(node.logged() for node in nodes))


if __name__ == "__main__":
    unittest.main(verbosity=2)
