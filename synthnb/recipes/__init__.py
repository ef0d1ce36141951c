"""Recipes: what to ask for each row and how to read the answer."""
