"""The order of imports as the sources have it: vocabulary <- stages, edges <- pipeline <- build <- main."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

VOCABULARY = {"types", "errors", "config", "prompts", "record", "lexicon", "latex"}
"""Values, errors, settings, word tables and prompt files: they know of nothing but each other."""

EDGES = {
    *("assets", "hub", "wheels", "tokens", "load", "embed", "store", "snapshot", "keywords"),
    *("llm", "local", "local_process", "formats", "theme_state"),
}
"""Each is the only place that touches its library or the disk. What is in no set is a stage."""

ORDERED = {
    "index": 2, "copying": 2, "upkeep": 2, "side_reading": 2, "comparing": 2, "pipeline": 2, "theme_answer": 2, "topic_reading": 2,
    "build": 3,
    "chain": 4, "batch": 4,
    "__init__": 5,
    "commands_papers": 6, "__main__": 6, "commands_themes": 6,
}

OWNERS = {
    "bm25s": {"rag.keywords"},
    "chromadb": {"rag.store"},
    "gradio": {"ui"},
    "langchain": {"rag.llm"},
    "langchain_openai": {"rag.llm"},
    "onnxruntime": {"rag.embed"},
    "openai": {"rag.llm"},
    "openvino": {"rag.embed"},
    "scipy": {"rag.theme_labels"},
    "sklearn": {"rag.theme_labels", "rag.theme_map", "rag.themes"},
    "Stemmer": {"rag.keywords", "rag.words"},
    "threadpoolctl": {"rag.theme_map", "rag.themes"},
    "tiktoken": {"rag.tokens"},
    "tokenizers": {"rag.embed"},
    "xllamacpp": {"rag.local_process"},
}
"""Library -> the modules (with their submodules) that may import it."""


def modules(package: str) -> dict[str, Path]:
    """Return the dotted name and the file of every module of a package."""
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in sorted((ROOT / package).rglob("*.py"))
    }


def imported(name: str, file: Path) -> Iterator[tuple[str, int]]:
    """Yield every dotted name a module imports, anywhere in it, with the line."""
    package = name.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{source}.{alias.name}", node.lineno


def part_of_rag(dotted: str) -> str | None:
    """Return the part of `rag` a dotted name belongs to ("store" of `rag.store.Store`), or None."""
    head, _, rest = dotted.partition(".")
    if head != "rag":
        return None
    if rest.startswith("formats.record"):
        return "record"
    part, dot, _ = rest.partition(".")
    is_module = dot or (ROOT / "rag" / f"{part}.py").exists() or (ROOT / "rag" / part).is_dir()
    return part if part and is_module else "__init__"


def level(part: str) -> int:
    """Return the place of a part in the order; lower ones never import higher ones."""
    return 0 if part in VOCABULARY else ORDERED.get(part, 1)


RAG = modules("rag")
EVERYTHING = {**RAG, **modules("ui"), **modules("eval"), **modules("tests")}


def test_lower_layers_never_import_higher_ones() -> None:
    """A part imports its own layer or a lower one, and a stage imports no edge."""
    wrong = []
    for name, file in RAG.items():
        own = part_of_rag(name) or ""
        for dotted, line in imported(name, file):
            part = part_of_rag(dotted)
            if part is None or part == own:
                continue
            is_stage = level(own) == 1 and own not in EDGES
            if level(part) > level(own) or (is_stage and part in EDGES):
                wrong.append(f"{name}:{line} imports {dotted}")
    assert not wrong


def test_no_two_modules_import_each_other() -> None:
    """No chain of imports leads back to where it began."""
    edges = {
        name: {
            target
            for dotted, _ in imported(name, file)
            for target in (dotted, dotted.rpartition(".")[0])
            if target in RAG and target != name
        }
        for name, file in RAG.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name not in done:
            for target in sorted(edges[name]):
                visit(target, (*trail, name))
            done.add(name)

    for name in RAG:
        visit(name, ())


@pytest.mark.parametrize("package", ["ui", "eval"])
def test_ui_and_eval_use_only_the_public_interface(package: str) -> None:
    """`from rag import ...` and nothing deeper, and never each other."""
    other = {"ui": "eval", "eval": "ui"}[package]
    wrong = []
    for name, file in modules(package).items():
        for dotted, line in imported(name, file):
            deeper = part_of_rag(dotted) not in (None, "__init__")
            if deeper or dotted.split(".")[0] in (other, "tests"):
                wrong.append(f"{name}:{line} imports {dotted}")
    assert not wrong


def test_each_library_is_imported_by_its_owner_alone() -> None:
    """Only the owner knows a library; `eval` may use them too, since it measures against plain ways."""
    wrong = []
    for name, file in {**RAG, **modules("ui")}.items():
        for dotted, line in imported(name, file):
            owners = OWNERS.get(dotted.split(".")[0])
            if owners and not any(name == owner or name.startswith(f"{owner}.") for owner in owners):
                wrong.append(f"{name}:{line} imports {dotted}")
    assert not wrong


def test_the_builtin_eval_is_never_shadowed() -> None:
    """`import eval` would take the builtin's name; `from eval.x import y` does not."""
    wrong = []
    for name, file in EVERYTHING.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if (alias.asname or alias.name).split(".")[0] == "eval":
                        wrong.append(f"{name}:{node.lineno}")
    assert not wrong


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def test_every_library_is_declared_and_pinned() -> None:
    """What `rag` and `ui` import stands in the dependencies, and each dependency in the constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = re.compile(r"[A-Za-z0-9._-]+")
    declared = {_normal(names.match(entry)[0]) for entry in project["dependencies"]}  # type: ignore[index]
    pinned = {
        _normal(line.partition("==")[0])
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    }
    everything = declared | {
        _normal(names.match(entry)[0])  # type: ignore[index]
        for extra in extras.values()
        for entry in extra
    }
    assert everything <= pinned

    # The evaluation's own packages need not be installed where the tests run.
    providers = {**{"umap": ["umap-learn"]}, **packages_distributions()}
    undeclared = []
    for package, allowed in (("rag", declared), ("ui", declared), ("eval", everything)):
        for name, file in modules(package).items():
            for dotted, line in imported(name, file):
                head = dotted.split(".")[0]
                if head in sys.stdlib_module_names or head in ("rag", "ui", "eval", "prompts", "__future__"):
                    continue
                found = {_normal(distribution) for distribution in providers.get(head, [])}
                if not found & allowed:
                    undeclared.append(f"{name}:{line} imports {head}, which no declared dependency provides")
    assert not undeclared


def test_constraints_are_portable() -> None:
    """Exact versions only: no address of an index, no path of a machine."""
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.!]*( ; .+)?", line), line
