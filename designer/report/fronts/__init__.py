"""First pages: what is protected, what is sent, and how well it is told, of mechanisms and of bounds."""
