"""A whole analysis on one page: its tables, its pictures, and the HTML around them."""
