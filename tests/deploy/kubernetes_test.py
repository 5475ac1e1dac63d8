"""deploy/kubernetes/mortise.yaml: fields that Kubernetes knows, parts that fit each other, and
nodes that are ready when they are started with its environment and asked with its probes.

    kubernetes_test.py MORTISE

It takes Debian's packages python3-yaml and python3-kubernetes; without them it exits with 77.
"""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
for each in ("cli", "process", "torture"):
    sys.path.insert(0, str(TESTS / each))

import namespaces  # noqa: E402
from namespaces import INSIDE  # noqa: E402

if namespaces.are_allowed():
    namespaces.run_inside()  # before the next import, which takes arguments away
from name_server import NameServer  # noqa: E402
from program import OK, PROGRAM, Case, environment, run, start, wait_until  # noqa: E402

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

    def test_the_pods_are_found_by_the_name_of_the_service(self):
        name, service = self.all["StatefulSet"]["metadata"]["name"], self.set["serviceName"]
        found = self.variables(2)
        self.assertEqual(found["MORTISE_PEER_LIST"], f"dns:{service}:7401")
        self.assertEqual(found["MORTISE_ADVERTISE"], f"{name}-2.{service}:7401")
        self.assertEqual(self.set["ordinals"]["start"], 1)
        self.assertEqual(int(found["MORTISE_EXPECT"]), self.set["replicas"])


@unittest.skipUnless(INSIDE in os.environ, "a name server takes namespaces of its own, and so root")
class Started(Read):
    """Pod N has the address 127.0.1.N, in the namespaces that this script was started in again."""

    def setUp(self):
        super().setUp()
        self.names = NameServer()
        self.scale(3)

    def scale(self, replicas):
        """The names that the headless service has then."""
        addresses = {f"mortise-{one}.mortise": [f"127.0.1.{one}"] for one in
                     range(1, replicas + 1)}
        self.names.addresses = {**addresses, "mortise": sum(addresses.values(), [])}

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
        found = {}
        for name, value in variables.items():
            value = value.replace("0.0.0.0", f"127.0.1.{index}").replace("/tls/", f"{secret}/")
            found[name] = value.replace("/data/node", str(self.directory / f"data-{index}"))
        return found

    def probe(self, name, index, variables):
        command = self.container[name]["exec"]["command"]
        self.assertEqual(command[0], "mortise")
        words = [word.replace("127.0.0.1", f"127.0.1.{index}") for word in command[1:]]
        return run(*words, **variables).returncode

    def test_nodes_with_its_environment_pass_its_probes(self):
        secret = self.make_secret()
        nodes = []

        def begin(index):
            nodes.append(self.keep(start(*self.container["args"], **variables[index],
                                         output=self.directory / f"output-{index}")))
        variables = {index: self.here(self.variables(index), index, secret)
                     for index in range(1, 6)}

        def voters():
            listed = run("members", "--json", "--peer", "127.0.1.1:7401", **variables[1]).stdout
            return [each["id"] for each in json.loads(listed) if each["role"] == "voter"]
        begin(1)
        try:
            wait_until(lambda: self.probe("livenessProbe", 1, variables[1]) == OK)
            self.assertNotEqual(self.probe("readinessProbe", 1, variables[1]), OK)
            for index in (2, 3):
                begin(index)
            for index in (1, 2, 3):
                wait_until(lambda index=index: self.probe("readinessProbe", index,
                                                          variables[index]) == OK)
            self.scale(5)  # replicas: 5
            for index in (4, 5):
                begin(index)
            wait_until(lambda: voters() == [1, 2, 3, 4, 5])
        except TimeoutError:
            self.fail("\n".join(node.logged() for node in nodes))


if __name__ == "__main__":
    unittest.main(verbosity=2)
