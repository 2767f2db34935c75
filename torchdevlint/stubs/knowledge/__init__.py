"""What torch and its neighbours do to devices, as tables. Each table names the source of its rows."""
