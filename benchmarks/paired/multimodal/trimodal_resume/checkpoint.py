import io

import torch


class CheckpointMixin:
    """Saves and restores whatever the class lists in `_checkpointed`.

    Values with a state_dict are handled through it; anything else is stored as it is.
    """

    _checkpointed = ()

    def dump(self):
        payload = {}
        for name in self._checkpointed:
            value = getattr(self, name)
            payload[name] = value.state_dict() if hasattr(value, "state_dict") else value
        payload.update(self.extra_state())
        stream = io.BytesIO()
        torch.save(payload, stream)
        return stream.getvalue()

    def restore(self, blob):
        payload = torch.load(io.BytesIO(blob), map_location="cpu", weights_only=True)
        for name in self._checkpointed:
            value = payload.pop(name)
            target = getattr(self, name)
            if hasattr(target, "load_state_dict"):
                target.load_state_dict(value)
            else:
                setattr(self, name, value)
        self.load_extra_state(payload)

    def extra_state(self):
        return {}

    def load_extra_state(self, payload):
        pass
