# -*- coding: utf-8 -*-
"""BERT fine-tuning for sentence acceptability (after the notebook by C. McCormick and N. Ryan).

The weights are random here: the model is built from a config so that the script also runs offline.
"""
import datetime
import random
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, TensorDataset, random_split
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

if torch.cuda.is_available():
    device = torch.device("cuda")
    print('There are %d GPU(s) available.' % torch.cuda.device_count())
else:
    device = torch.device("cpu")
    print('No GPU available, using the CPU instead.')

MAX_LEN = 16
seed_val = 42
random.seed(seed_val)
np.random.seed(seed_val)
torch.manual_seed(seed_val)
torch.cuda.manual_seed_all(seed_val)


def fake_cola(n):
    """[CLS] tok tok ... [SEP] [PAD]; acceptable when the first two tokens are in order"""
    input_ids, masks, labels = [], [], []
    for _ in range(n):
        length = random.randint(4, MAX_LEN - 2)
        toks = [random.randint(5, 99) for _ in range(length)]
        ids = [2] + toks + [3]
        pad = MAX_LEN - len(ids)
        input_ids.append(ids + [0] * pad)
        masks.append([1] * len(ids) + [0] * pad)
        labels.append(int(toks[0] < toks[1]))
    return torch.tensor(input_ids), torch.tensor(masks), torch.tensor(labels)


def flat_accuracy(preds, labels):
    pred_flat = np.argmax(preds, axis=1).flatten()
    labels_flat = labels.flatten()
    return np.sum(pred_flat == labels_flat) / len(labels_flat)


def matthews_corrcoef(y_true, y_pred):
    tp = np.sum((y_true == 1) & (y_pred == 1))
    tn = np.sum((y_true == 0) & (y_pred == 0))
    fp = np.sum((y_true == 0) & (y_pred == 1))
    fn = np.sum((y_true == 1) & (y_pred == 0))
    denom = np.sqrt(float((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    return (tp * tn - fp * fn) / denom if denom else 0.0


def format_time(elapsed):
    return str(datetime.timedelta(seconds=int(round(elapsed))))


dataset = TensorDataset(*fake_cola(32))
train_dataset, val_dataset = random_split(dataset, [24, 8])
batch_size = 8
train_dataloader = DataLoader(train_dataset, sampler=RandomSampler(train_dataset), batch_size=batch_size)
validation_dataloader = DataLoader(val_dataset, sampler=SequentialSampler(val_dataset), batch_size=batch_size)

config = BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                    intermediate_size=64, max_position_embeddings=32, num_labels=2)
model = BertForSequenceClassification(config)
model.to(device)

optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, eps=1e-8)
epochs = 2
total_steps = len(train_dataloader) * epochs
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=0, num_training_steps=total_steps)

for epoch_i in range(0, epochs):
    print('======== Epoch {:} / {:} ========'.format(epoch_i + 1, epochs))
    t0 = time.time()
    total_train_loss = 0
    model.train()
    for step, batch in enumerate(train_dataloader):
        b_input_ids = batch[0].to(device)
        b_input_mask = batch[1].to(device)
        b_labels = batch[2].to(device)

        model.zero_grad()
        result = model(b_input_ids, token_type_ids=None, attention_mask=b_input_mask, labels=b_labels)
        loss = result.loss
        total_train_loss += loss.item()
        loss.backward()
        # Clip the norm of the gradients to 1.0.
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    print("  Average training loss: {0:.2f}".format(total_train_loss / len(train_dataloader)))
    print("  Training epoch took: {:}".format(format_time(time.time() - t0)))

    print("Running Validation...")
    model.eval()
    total_eval_accuracy = 0
    total_eval_loss = 0
    predictions, true_labels = [], []
    for batch in validation_dataloader:
        b_input_ids, b_input_mask, b_labels = tuple(t.to(device) for t in batch)
        with torch.no_grad():
            result = model(b_input_ids, token_type_ids=None, attention_mask=b_input_mask, labels=b_labels)
        total_eval_loss += result.loss.item()

        # Move logits and labels to CPU
        logits = result.logits.detach().cpu().numpy()
        label_ids = b_labels.to('cpu').numpy()
        total_eval_accuracy += flat_accuracy(logits, label_ids)
        predictions.append(logits)
        true_labels.append(label_ids)

    print("  Accuracy: {0:.2f}".format(total_eval_accuracy / len(validation_dataloader)))
    print("  Validation Loss: {0:.2f}".format(total_eval_loss / len(validation_dataloader)))

flat_predictions = np.argmax(np.concatenate(predictions, axis=0), axis=1).flatten()
flat_true_labels = np.concatenate(true_labels, axis=0)
print('Total MCC: %.3f' % matthews_corrcoef(flat_true_labels, flat_predictions))
