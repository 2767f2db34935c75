import torch


class Engine:
    def __init__(self, task, callbacks, lr=3e-3):
        self.task = task
        self.callbacks = callbacks
        self.optimizer = torch.optim.Adam(task.parameters(), lr=lr)
        self.log = {}

    def emit(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event)(self, *args)

    def fit(self, train, test, epochs):
        for epoch in range(epochs):
            self.emit("on_epoch_start")
            self.task.train()
            for batch in train:
                loss = self.task.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.emit("on_train_batch", loss.detach())
            self.task.eval()
            with torch.no_grad():
                for batch in test:
                    self.emit("on_eval_batch", self.task.evaluation_step(batch))
            self.emit("on_epoch_end")
            print(f"epoch {epoch}:", ", ".join(f"{k} {v:.4f}" for k, v in self.log.items()))
