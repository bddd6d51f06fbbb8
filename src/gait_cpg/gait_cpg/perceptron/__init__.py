"""Controller of a layer of threshold perceptrons on linear servos."""
