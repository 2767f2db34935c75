import torch
from torch.utils.data import DataLoader

from settings import BATCH_SIZE, DEVICE
from text import label_pipeline, text_pipeline


def collate_batch(batch):
    label_list, text_list, offsets = [], [], [0]
    for (_label, _text) in batch:
        label_list.append(label_pipeline(_label))
        processed_text = torch.tensor(text_pipeline(_text), dtype=torch.int64)
        text_list.append(processed_text)
        offsets.append(processed_text.size(0))
    label_list = torch.tensor(label_list, dtype=torch.int64)
    offsets = torch.tensor(offsets[:-1]).cumsum(dim=0)
    text_list = torch.cat(text_list)
    return label_list.to(DEVICE), text_list.to(DEVICE), offsets.to(DEVICE)


def make_loader(samples, shuffle):
    return DataLoader(samples, batch_size=BATCH_SIZE, shuffle=shuffle, collate_fn=collate_batch)
