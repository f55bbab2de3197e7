"""One tiny untrained model and one really trained from it, shared by the tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
torch = pytest.importorskip("torch", reason="the extra `train` is not installed")

import tiny_task  # noqa: E402

from whileai.core.files import write_jsonl  # noqa: E402
from whileai.grading.health import GradingWarning  # noqa: E402
from whileai.models.tiny import make_tiny  # noqa: E402
from whileai.training.config import SFT, Sampling  # noqa: E402
from whileai.training.job import TrainReport, train  # noqa: E402

SAMPLING = Sampling(max_new_tokens=40)


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Two threads on a busy machine are several times slower than one for a model this small."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory, one_thread: None) -> Path:
    """The folder of the tiny untrained model."""
    return make_tiny(tmp_path_factory.mktemp("tiny") / "model", tiny_task.texts())


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(training file, held-out file)."""
    folder = tmp_path_factory.mktemp("files")
    training, held = tiny_task.split()
    write_jsonl(folder / "train.jsonl", training)
    write_jsonl(folder / "holdout.jsonl", held)
    return folder / "train.jsonl", folder / "holdout.jsonl"


def tiny_config(model: Path, **changes: Any) -> SFT:
    """Settings under which the tiny model learns its task in some 20 seconds of one core."""
    settings: dict[str, Any] = {"steps": 160, "batch_size": 16, "learning_rate": 1e-2, "lora_rank": 0, "save_every": 80}
    return SFT(base_model=str(model), **{**settings, **changes})


@pytest.fixture(scope="session")
def trained_run(untrained: Path, files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> TrainReport:
    """A whole training job on the tiny model: one base pass, training, one trained pass."""
    out = tmp_path_factory.mktemp("runs") / "tiny"
    with pytest.warns(
        GradingWarning, match="scored all 120 rows 0"
    ):  # an untrained model knows nothing, and is called out
        return train(
            *files,
            config=tiny_config(untrained),
            out=out,
            judge=tiny_task.judge,
            sampling=SAMPLING,
            base_passes=2,
            say=lambda _: None,
        )
