"""What foreign code does to devices, as data that reads like Python: stub files, their loader, and the scripts that derive them."""
