"""Settings: where each comes from, which wins, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.config import DEFAULT_MODEL, Config
from rag.errors import UserError


def test_without_settings_everything_has_a_default() -> None:
    config = Config.from_environment({})
    assert config.store == str(config.home / "store") and config.home.name == "plenary"
    assert (config.writer, config.model, config.base_url, config.api_key) == ("auto", DEFAULT_MODEL, None, None)
    assert (config.timeout, config.retries, config.threads) == (60.0, 4, None)
    assert not config.remote


def test_the_environment_is_read() -> None:
    config = Config.from_environment(
        {
            "PLENARY_HOME": "/h",
            "PLENARY_STORE": "http://localhost:8000",
            "PLENARY_WRITER": "local",
            "OPENAI_BASE_URL": "http://localhost:1/v1",
            "OPENAI_API_KEY": "sk-secret",
            "OPENAI_MODEL": "other",
            "PLENARY_TIMEOUT": "2.5",
            "PLENARY_RETRIES": "0",
            "PLENARY_THREADS": "3",
        }
    )
    assert config.home == Path("/h") and config.store == "http://localhost:8000" and config.remote
    assert (config.writer, config.base_url, config.model) == ("local", "http://localhost:1/v1", "other")
    assert (config.timeout, config.retries, config.threads) == (2.5, 0, 3)
    assert config.api_key == "sk-secret" and "sk-secret" not in repr(config)


def test_plenarys_model_wins_and_empty_is_unset() -> None:
    environment = {"OPENAI_MODEL": "a", "PLENARY_MODEL": "b", "PLENARY_STORE": "", "OPENAI_API_KEY": "", "PLENARY_TIMEOUT": ""}
    config = Config.from_environment(environment)
    assert config.model == "b" and config.api_key is None and config.timeout == 60
    assert config.store == str(config.home / "store")


def test_overrides_win_and_none_is_no_override() -> None:
    config = Config.from_environment({"PLENARY_WRITER": "local"}, writer="extractive", store=None, papers=3)
    assert config.writer == "extractive" and config.papers == 3 and config.store == str(config.home / "store")
    # A wrong setting that is overridden does no harm.
    assert Config.from_environment({"PLENARY_WRITER": "typo"}, writer="local").writer == "local"


def test_paths_are_taken_of_either_kind(tmp_path: Path) -> None:
    config = Config(store=tmp_path / "index", home=str(tmp_path))  # type: ignore[arg-type]
    assert config.store == str(tmp_path / "index") and config.home == tmp_path


@pytest.mark.parametrize(
    ("name", "value"),
    [("PLENARY_TIMEOUT", "soon"), ("PLENARY_TIMEOUT", "nan"), ("PLENARY_RETRIES", "-1"), ("PLENARY_THREADS", "inf")],
)
def test_a_number_that_is_none_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(UserError, match=rf"^{name} must be a number.*'{value}'$"):
        Config.from_environment({name: value})


def test_an_unknown_writer_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UserError, match="unknown writer 'gpt'; choose one of auto, openai, local, extractive"):
        Config.from_environment({}, writer="gpt")


@pytest.mark.parametrize("store", ["", "ftp://host/x", "http://", "http://host:port", "https://host:99999", "HTTP//x://"])
def test_what_is_no_store_is_refused(store: str) -> None:
    with pytest.raises(UserError, match="is no store; give a folder or an address like"):
        Config(store=store, home=Path("/h"))
