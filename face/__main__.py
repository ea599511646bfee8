"""`python -m optldp` is the command `optldp`."""

from optldp.designer.command_line import main

if __name__ == "__main__":
    main()
