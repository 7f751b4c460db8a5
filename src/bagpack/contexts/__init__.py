"""Windows around words and pairs: finding them, counting in them, showing them."""
