"""synthnb."""
