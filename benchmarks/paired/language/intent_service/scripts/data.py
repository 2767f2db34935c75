import random

TEMPLATES = {
    "book_table": ["book a table for {n} at {t}", "i need a table for {n} people", "reserve seats for {n}, {t} please"],
    "cancel": ["cancel my order", "please cancel the booking at {t}", "i want to cancel it"],
    "opening_hours": ["when do you open?", "are you open at {t}?", "what are the opening hours"],
    "smalltalk": ["hello!", "how are you?", "thanks a lot", "good morning"],
}


def make_dataset(n, seed=0):
    rnd = random.Random(seed)
    intents = sorted(TEMPLATES)
    samples = []
    for _ in range(n):
        label = rnd.randrange(len(intents))
        text = rnd.choice(TEMPLATES[intents[label]]).format(n=rnd.randint(2, 9), t=rnd.choice(["noon", "8 pm", "6"]))
        samples.append((text, label))
    return samples, intents
