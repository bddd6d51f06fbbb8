"""
Strides of the hexapod with extending legs: its published energy model, and measures that hold.

References
----------
Cafarelli (2017), *Energy-efficient Gait Control Schema of a Hexapod Robot with Dynamic Leg
Lengths*, MSc thesis, Southern Illinois University Edwardsville.

"""
