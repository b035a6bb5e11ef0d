// The module's first line is still to be written.
