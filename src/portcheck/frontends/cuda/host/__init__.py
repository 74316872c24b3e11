"""Host code: how kernels are launched, with which template arguments, one after which."""
