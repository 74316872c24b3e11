"""What C++ expressions stand for, by C's rules for types, and which operations they need."""
