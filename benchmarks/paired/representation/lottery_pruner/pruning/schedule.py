def cubic_sparsity(step, start, end, final, initial=0.0):
    """Zhu & Gupta, "To prune, or not to prune" """
    if step < start:
        return 0.0
    progress = min(1.0, (step - start) / max(1, end - start))
    return final + (initial - final) * (1 - progress) ** 3
