# Time series forecasting with an LSTM (converted from notebook)

# In[1]:
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import mean_absolute_error, mean_squared_error
from sklearn.preprocessing import MinMaxScaler

torch.manual_seed(7)
np.random.seed(7)
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
print('Running on', device)

# In[2]: data
months = pd.date_range('1949-01-01', periods=144, freq='MS')
trend = np.linspace(110, 480, 144)
season = 1 + 0.18 * np.sin(2 * np.pi * (np.arange(144) - 3) / 12)
df = pd.DataFrame({'passengers': trend * season + np.random.randn(144) * 6}, index=months)
df['passengers'] = df['passengers'].round()
df['rolling'] = df['passengers'].rolling(3, min_periods=1).mean()
print(df.tail(3))

# In[3]: scale and make windows
test_size = 24
train_df, test_df = df.iloc[:-test_size], df.iloc[-test_size:]
scaler = MinMaxScaler(feature_range=(-1, 1))
train_scaled = scaler.fit_transform(train_df[['passengers']].values)

lookback = 12


def create_sequences(data, lookback):
    xs, ys = [], []
    for i in range(len(data) - lookback):
        xs.append(data[i:i + lookback])
        ys.append(data[i + lookback])
    return np.array(xs), np.array(ys)


X_train, y_train = create_sequences(train_scaled, lookback)
X_train = torch.tensor(X_train, dtype=torch.float32).to(device)
y_train = torch.tensor(y_train, dtype=torch.float32).to(device)
print(X_train.shape, y_train.shape)


# In[4]: model
class LSTM(nn.Module):

    def __init__(self, input_dim=1, hidden_dim=16, num_layers=1, output_dim=1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_dim, hidden_dim, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_dim, output_dim)

    def forward(self, x):
        h0 = torch.zeros(self.num_layers, x.size(0), self.hidden_dim).to(x.device)
        c0 = torch.zeros(self.num_layers, x.size(0), self.hidden_dim).to(x.device)
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1, :])


model = LSTM().to(device)
loss_fn = nn.MSELoss()
optimiser = torch.optim.Adam(model.parameters(), lr=0.02)

# In[5]: training
hist = np.zeros(10)
for t in range(10):
    y_pred = model(X_train)
    loss = loss_fn(y_pred, y_train)
    hist[t] = loss.item()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if t % 3 == 0:
        print('Epoch', t, 'MSE:', hist[t])

# In[6]: fit on the training range
model.eval()
fitted = model(X_train)
fitted = scaler.inverse_transform(fitted.detach().cpu().numpy())
actual = scaler.inverse_transform(y_train.cpu().numpy())
print('train RMSE: %.2f' % np.sqrt(mean_squared_error(actual, fitted)))

# In[7]: recursive multi-step forecast
window = torch.tensor(train_scaled[-lookback:], dtype=torch.float32).unsqueeze(0).to(device)
preds = []
with torch.no_grad():
    for _ in range(test_size):
        nxt = model(window)
        preds.append(nxt.squeeze(0))
        window = torch.cat([window[:, 1:], nxt.unsqueeze(1)], dim=1)

preds = scaler.inverse_transform(torch.stack(preds).cpu().numpy())
result = test_df[['passengers']].copy()
result['forecast'] = preds[:, 0]
result['abs_err'] = (result['passengers'] - result['forecast']).abs()
print(result.head())
print('test MAE: %.2f' % mean_absolute_error(result['passengers'], result['forecast']))
print('MAPE: %.2f%%' % (100 * (result['abs_err'] / result['passengers']).mean()))
