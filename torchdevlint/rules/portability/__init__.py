"""Rules about machines without the expected accelerator."""
