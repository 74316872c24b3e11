"""What threads do together: exchanges, atomics, barriers, groups, asynchronous copies, the algorithms of CUB."""
