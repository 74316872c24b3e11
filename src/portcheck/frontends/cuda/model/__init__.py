"""What things are while a kernel is lowered: C++ types, records, templates, values, the state."""
