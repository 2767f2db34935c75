"""What several rules ask of a file: its shape, its words, its devices. No rule stands here."""
