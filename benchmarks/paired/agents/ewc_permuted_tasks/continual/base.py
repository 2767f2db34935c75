from abc import ABC, abstractmethod


class ContinualStrategy(ABC):
    def __init__(self, model, device, **options):
        self.model = model
        self.device = device
        self.options = options

    def before_task(self, task_id):
        pass

    def extend_batch(self, x, y):
        return x, y

    @abstractmethod
    def penalty(self):
        ...

    def after_task(self, task_id, loader):
        pass


class Naive(ContinualStrategy):
    def penalty(self):
        return 0.0
