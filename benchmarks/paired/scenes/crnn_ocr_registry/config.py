cfg = dict(
    device="auto",
    batch_size=16,
    lr=1e-2,
    epochs=3,
    train=dict(type="DigitLines", size=64, seed=0),
    val=dict(type="DigitLines", size=16, seed=1),
    model=dict(type="CRNN", channels=16, hidden=24),
    decoder=dict(type="BigramGreedy", weight=0.3),
)
