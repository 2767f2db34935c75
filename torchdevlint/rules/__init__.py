"""The rules: a file each, in packages by what they are about."""
