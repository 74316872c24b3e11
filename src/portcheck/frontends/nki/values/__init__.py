"""What an expression of a port may stand for, and how tiles are read, computed and stored."""
