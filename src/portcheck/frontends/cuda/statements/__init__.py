"""What C++ statements do: declarations, branches, loops, jumps."""
