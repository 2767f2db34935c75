import torch

from hostcall import on_host


@on_host
def reading_order(boxes, line_height=0.08):
    """Order of the words of a page: top to bottom in lines, then left to right.

    boxes: (B, N, 4) as x0, y0, x1, y1 in page units.
    """
    orders = []
    for page in boxes.tolist():
        def place(i):
            x0, y0, x1, y1 = page[i]
            return (int((y0 + y1) / 2 / line_height), x0)
        orders.append(sorted(range(len(page)), key=place))
    return torch.tensor(orders)


@on_host
def column_count(boxes):
    centres = ((boxes[..., 0] + boxes[..., 2]) / 2 * 3).long().clamp(0, 2)
    return torch.tensor([len(set(page.tolist())) for page in centres])


def arrange(order, *tensors):
    """Apply an order (B, N) to tensors of shape (B, N) or (B, N, D)."""
    out = []
    for t in tensors:
        index = order if t.ndim == 2 else order.unsqueeze(-1).expand(-1, -1, t.shape[-1])
        out.append(torch.gather(t, 1, index))
    return out
