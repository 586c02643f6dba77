"""What pictures show, as plain data made from results; `draw` draws them."""
