"""The key/value cache of the sampler: grown in place, shared prefix copied once, finished rows moved out.

It answers the few calls that a transformers decoder makes of a cache, so no transformers class is
needed at import. Layout of a row's slots: [shared prefix][left padding][own prompt][new tokens].
"""

from __future__ import annotations

from typing import Any


class Slots:
    """Keys and values of every layer, each `[rows, kv_heads, capacity, head_dim]`, of which `length` are filled."""

    is_compileable = False

    def __init__(self, capacity: int, rows: int = 0) -> None:
        self.capacity = capacity
        self.length = 0
        self.rows = rows
        self.keys: list[Any] = []
        self.values: list[Any] = []
        self._pending = 0
        self._joined = 0

    def update(self, key: Any, value: Any, layer_idx: int, *_: Any, **__: Any) -> tuple[Any, Any]:
        """Write the new slots of one layer and return everything filled so far (called by the model)."""
        new = key.shape[2]
        if layer_idx == len(self.keys):
            shape = (key.shape[0], key.shape[1], self.capacity, key.shape[3])
            self.keys.append(key.new_empty(shape))
            self.values.append(value.new_empty(shape))
            self.rows = key.shape[0]
        end = self.length + new
        keys, values = self.keys[layer_idx], self.values[layer_idx]
        keys[: self.rows, :, self.length : end] = key
        values[: self.rows, :, self.length : end] = value
        self._pending = new
        return keys[: self.rows, :, :end], values[: self.rows, :, :end]

    def commit(self) -> None:
        """Count the slots written by the last forward pass; every layer writes at the same place before this."""
        self.length += self._pending

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Filled slots, as transformers asks for it."""
        return self.length

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """(slots seen by the query, offset), as transformers asks for it."""
        return self.length + query_length, 0

    def spread(self, rows: int, capacity: int) -> Slots:
        """A new cache of `rows` rows that all begin as this one's only row, with room for `capacity` slots."""
        twin = Slots(capacity, rows)
        twin.length = self.length
        for source, target in ((self.keys, twin.keys), (self.values, twin.values)):
            for tensor in source:
                target.append(tensor.new_empty((rows, tensor.shape[1], capacity, tensor.shape[3])))
                target[-1][:, :, : self.length] = tensor[:, :, : self.length]
        return twin

    def join(self, part: Slots, index: Any, prefix: int, end: int) -> None:
        """Append rows of `part`, row `index[i]` as the i-th of them: its first `prefix` slots, the rest up to `end`."""
        own = part.length - prefix
        for source, target in ((part.keys, self.keys), (part.values, self.values)):
            for layer, tensor in enumerate(source):
                if layer == len(target):
                    target.append(tensor.new_zeros((self.rows, tensor.shape[1], self.capacity, tensor.shape[3])))
                rows = target[layer][self._joined : self._joined + index.shape[0]]
                rows[:, :, :prefix] = tensor[:1, :, :prefix]
                rows[:, :, end - own : end] = tensor[:, :, prefix : part.length].index_select(0, index)
        self._joined += int(index.shape[0])
        self.length = end

    def move(self, source: int, target: int) -> None:
        """Put row `source` where row `target` was."""
        for tensor in (*self.keys, *self.values):
            tensor[target, :, : self.length] = tensor[source, :, : self.length]
