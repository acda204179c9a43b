"""What `exactness.py` asks of a collection, and how it writes down what is answered."""
