"""Rules about nn.Module and what it registers."""
