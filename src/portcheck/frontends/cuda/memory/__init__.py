"""Where things lie: addresses, members, memory seen as other numbers, copies of bytes."""
