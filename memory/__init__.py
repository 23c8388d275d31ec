"""What is kept, and who may read it: every table and every rule about them."""
