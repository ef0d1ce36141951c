"""``python -m synthnb``."""

from synthnb.cli import main

if __name__ == "__main__":
    main()
