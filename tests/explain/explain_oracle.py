"""An explanation written out: every feature times its weight."""

from bagpack.names import block_features


def contributions(model, counts, label):
    """What each feature of a single pair adds to the decision value, by name; and the bias."""
    output, sign = model.output_of(label)
    values = {}
    for block, columns, data in model.observed(counts):
        names = block_features(block, model.terms)
        parts = sign * model.weights[block][columns, output] * data
        values |= {
            names[j]: value for j, value in zip(columns.tolist(), parts.tolist(), strict=True) if value
        }
    return values, sign * float(model.intercept[output])
