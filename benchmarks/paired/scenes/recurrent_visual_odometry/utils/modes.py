from contextlib import contextmanager

import torch


@contextmanager
def host_inference(model):
    """Run the model on the host in eval mode, then go on exactly where we were."""
    home, training = model.device, model.training
    carried = model.export_state()
    model.to("cpu").eval()
    model.reset_state()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.to(home).train(training)
        model.import_state(carried)
